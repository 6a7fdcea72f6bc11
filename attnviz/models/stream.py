"""One pass over a layer's rows, block by block: log-sum-exp, overview, metrics, output.

Nothing ever holds T x T for all heads, and the pass costs about as much as the attention
itself: blocks are small enough for a core's cache, the rows are dealt out over the cores, and
what a causal or sliding mask forbids is not computed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from attnviz.metrics.heads import NAMES, key_gaps, mean_rows, row_metrics
from attnviz.models import cores
from attnviz.models.layers import LayerRecord, of_heads, of_queries

ROWS, FAST_ROWS, LEAST_ROWS = 256, 128, 8  # of a block; products of fewer rows are slower
CELLS, MOST_CELLS = 2**20, 2**22  # of a block, all its heads together: 4 and 16 MiB in float32


@dataclass(frozen=True)
class Streamed:
    """What one pass leaves."""

    record: LayerRecord  # with its rows' maximum and log-sum
    overview: Float[Tensor, "heads down across"]
    metrics: Float[Tensor, "heads metrics"]  # in the order of metrics.heads.NAMES
    output: Float[Tensor, "heads queries dim_v"] | None


def stream(
    record: LayerRecord,
    size: int,
    values: Float[Tensor, "kv_heads keys dim_v"] | None = None,
) -> Streamed:
    """Run through the rows of a layer; with values, compute its output as well.

    The overview is at most size x size: cell (a, b) is the mean weight over the queries and
    keys of its block (masked cells count as 0), blocks being as equal as whole tokens allow.
    """
    table = _Table(record, size, values)
    rows = blocks(record.n_queries, _rows_of_a_block(record.share * record.n_keys))
    n_shares = 1
    if record.queries.device.type == "cpu" and len(rows) >= 2 * cores.available():
        n_shares = cores.available()
    # Dealt out in turn, each gets short rows and long ones of a causal map.
    done = cores.on_each(lambda share: table.run(rows[share::n_shares]), n_shares)
    output = table.output
    return Streamed(
        record=record.normalised(table.row_max, table.row_log_sum),
        overview=torch.stack(done).sum(0),
        metrics=mean_rows(table.numbers.cpu()),  # in float64, which not every device has
        output=None if output is None else output.to(record.queries.dtype),
    )


def _rows_of_a_block(cells: int) -> int:
    """How many rows of this many cells (of the heads that share a key head) go together."""
    fast = max(LEAST_ROWS, min(FAST_ROWS, MOST_CELLS // cells))
    return min(ROWS, max(fast, CELLS // cells))


class _Table:
    """What a pass writes, row by row; several may write at once, each into rows of its own."""

    def __init__(self, record: LayerRecord, size: int, values: Tensor | None) -> None:
        self.record, self.values = record, values
        heads, n_queries, n_keys = record.n_heads, record.n_queries, record.n_keys
        where = record.queries.device
        self.dtype = dtype = torch.promote_types(record.queries.dtype, torch.float32)
        bins_q, bins_k = bins(n_queries, size).to(where), bins(n_keys, size).to(where)
        self.bins_q = bins_q.tolist()
        pool = torch.zeros(n_keys, int(bins_k[-1]) + 1, dtype=dtype, device=where)
        pool[torch.arange(n_keys, device=where), bins_k] = 1.0
        self.pool = pool / pool.sum(0)  # (keys, size): each column averages its keys
        rows_of = torch.zeros(int(bins_q[-1]) + 1, n_queries, dtype=dtype, device=where)
        rows_of[bins_q, torch.arange(n_queries, device=where)] = 1.0
        self.rows_of = rows_of / rows_of.sum(1, keepdim=True)  # (size, queries): each averages
        self.row_max = torch.empty(heads, n_queries, dtype=dtype, device=where)
        self.row_log_sum = torch.empty_like(self.row_max)
        self.numbers = torch.empty(heads, n_queries, len(NAMES), dtype=dtype, device=where)
        self.output: Tensor | None = None
        if values is not None:
            shape = (heads, n_queries, values.shape[-1])
            self.output = torch.empty(shape, dtype=dtype, device=where)

    def run(self, blocks_of_rows: list[slice]) -> Float[Tensor, "heads down across"]:
        """Go through these rows; gives what they add to the overview."""
        record, dtype = self.record, self.dtype
        heads, n_keys, share = record.n_heads, record.n_keys, record.share
        where = record.queries.device
        added = torch.zeros(heads, len(self.rows_of), self.pool.shape[1], dtype=dtype, device=where)
        if not blocks_of_rows:
            return added
        step = blocks_of_rows[0].stop - blocks_of_rows[0].start
        # Two tables of one block, used again by every block: fresh memory costs more than the work.
        cells = max(CELLS, share * step * n_keys)
        scores, weights = torch.empty(2, cells, dtype=dtype, device=where)
        for rows in blocks_of_rows:
            cols = record.rule.reach(rows, n_keys)
            edge = max(cols.start, record.rule.edge(rows))
            blocked = record.blocked(rows, slice(edge, cols.stop))
            sides = (rows.stop - rows.start, cols.stop - cols.start)
            # Looking back only, a distance is linear in the key's place: one product a block.
            back = record.rule.causal and record.rule.table is None
            before = (rows.start - torch.arange(cols.start, cols.stop, device=where)).to(dtype)
            gaps = None if back else key_gaps(rows, cols, where).to(dtype)
            own = slice(self.bins_q[rows.start], self.bins_q[rows.stop - 1] + 1)
            grouped = self.rows_of[own, rows]  # (cells of the overview, rows)
            for some in blocks(heads, share * max(1, CELLS // (share * math.prod(sides)))):
                shape = (some.stop - some.start, *sides)
                s, p = (table[: math.prod(shape)].view(shape) for table in (scores, weights))
                soft = _softmax(record, some, rows, cols, blocked, s, p)
                self.row_max[some, rows], self.row_log_sum[some, rows] = (
                    soft.row_max,
                    soft.row_log_sum,
                )
                # Rows first: there are few cells of the overview in a block of rows.
                added[some, own] += (grouped.expand(shape[0], -1, -1) @ p) @ self.pool[cols]
                self.numbers[some, rows] = row_metrics(
                    p,
                    rows.start,
                    cols.start,
                    entropy=soft.entropy,
                    distance=p @ before + soft.total * torch.arange(sides[0], device=where)
                    if gaps is None
                    else torch.mul(p, gaps, out=s).sum(-1),
                )
                if self.values is not None and self.output is not None:
                    group = heads // self.values.shape[0]
                    v = self.values[some.start // group : (some.stop - 1) // group + 1, cols]
                    made = torch.bmm(p.view(len(v), -1, shape[2]), v.to(dtype))
                    self.output[some, rows] = made.view(*shape[:2], -1)
        return added


def bins(length: int, size: int) -> Tensor:
    """The overview cell of each position: equal cells, or one a token where there are fewer."""
    size = min(size, length)
    return torch.arange(length) * size // length


class _Softmax(NamedTuple):
    total: Tensor  # (heads, rows), as are the others: what a row shares out
    row_max: Tensor
    row_log_sum: Tensor
    entropy: Tensor


def _softmax(
    record: LayerRecord,
    heads: slice,
    rows: slice,
    cols: slice,
    blocked: Tensor | None,
    scores: Tensor,
    weights: Tensor,
) -> _Softmax:
    """The softmax of a block that holds every key its rows see, written into scores and weights.

    blocked is of its last keys; the ones before are all allowed.

    The log-sum and the entropy come from the weights without another exp or log a cell: the
    largest weight is exp(0 - log sum), and -sum p ln p = log sum - sum p (s - max).
    """
    s = record.scores(heads, rows, cols, out=scores)
    floor = torch.finfo(s.dtype).min  # finite, so that 0 weight times it stays 0
    if blocked is not None:
        s[..., -blocked.shape[2] :].masked_fill_(of_heads(blocked, heads), floor)
    top = s.amax(-1)  # (heads, rows)
    empty = top == floor  # no allowed key at all
    s -= top[..., None]
    p = torch.softmax(s, -1, out=weights)
    log_sum = -p.amax(-1).log()
    total = torch.ones_like(log_sum)
    if record.sinks is not None:
        # One more logit a row: the sum grows by its share, and it may be the largest.
        sink = of_queries(record.sinks[heads], rows).to(s.dtype) - top
        share = torch.nn.functional.softplus(sink - log_sum, threshold=50)
        log_sum = log_sum + share
        total = (-share).exp()
        p *= total[..., None]
    entropy = log_sum * total - s.mul_(p).sum(-1)
    if bool(empty.any()):
        # A row without a key has no weight anywhere, rather than the same on every key.
        p.masked_fill_(empty[..., None], 0.0)
        log_sum[empty] = torch.inf
        entropy[empty] = total[empty] = 0.0
    return _Softmax(total, top, log_sum, entropy)


def blocks(length: int, step: int) -> list[slice]:
    return [slice(start, min(start + step, length)) for start in range(0, length, step)]

"""One pass over a layer's rows, block by block: log-sum-exp, overview, metrics, output.

No block is larger than fits a core's cache, so nothing ever holds T x T for all heads, and the
pass costs about as much as the attention itself. What a causal or sliding mask forbids is not
computed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from attnviz.metrics.heads import NAMES, key_gaps, mean_rows, row_metrics
from attnviz.models.layers import LayerRecord, of_heads, of_queries

ROWS, LEAST_ROWS = 256, 32
CELLS = 2**19  # of a block, all its heads together: 2 MiB in float32


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
    heads, n_queries, n_keys = record.n_heads, record.n_queries, record.n_keys
    where = record.queries.device
    dtype = torch.promote_types(record.queries.dtype, torch.float32)
    bins_q, bins_k = bins(n_queries, size).to(where), bins(n_keys, size).to(where)
    pool = torch.zeros(n_keys, int(bins_k[-1]) + 1, dtype=dtype, device=where)
    pool[torch.arange(n_keys, device=where), bins_k] = 1.0
    pool /= pool.sum(0)  # (keys, size): each column averages its keys
    rows_of = torch.zeros(int(bins_q[-1]) + 1, n_queries, dtype=dtype, device=where)
    rows_of[bins_q, torch.arange(n_queries, device=where)] = 1.0
    rows_of /= rows_of.sum(1, keepdim=True)  # (size, queries): each row averages its queries
    overview = torch.zeros(heads, int(bins_q[-1]) + 1, pool.shape[1], dtype=dtype, device=where)
    row_max = torch.empty(heads, n_queries, dtype=dtype, device=where)
    row_log_sum = torch.empty_like(row_max)
    numbers = torch.empty(heads, n_queries, len(NAMES), dtype=dtype, device=where)
    output = None
    if values is not None:
        output = torch.empty(heads, n_queries, values.shape[-1], dtype=dtype, device=where)

    share = record.share
    step = min(ROWS, max(LEAST_ROWS, CELLS // (share * n_keys)))
    # Two tables of one block, used again by every block: fresh memory costs more than the work.
    scores, weights = torch.empty(2, max(CELLS, share * step * n_keys), dtype=dtype, device=where)
    for rows in blocks(n_queries, step):
        cols = record.rule.reach(rows, n_keys)
        edge = max(cols.start, record.rule.edge(rows))
        blocked = record.blocked(rows, slice(edge, cols.stop))
        sides = (rows.stop - rows.start, cols.stop - cols.start)
        # Looking back only, a distance is linear in the key's place: one product a block.
        back = record.rule.causal and record.rule.table is None
        before = (rows.start - torch.arange(cols.start, cols.stop, device=where)).to(dtype)
        gaps = None if back else key_gaps(rows, cols, where).to(dtype)
        own = slice(int(bins_q[rows.start]), int(bins_q[rows.stop - 1]) + 1)
        grouped = rows_of[own, rows]  # (cells of the overview, rows)
        for some in blocks(heads, share * max(1, CELLS // (share * math.prod(sides)))):
            shape = (some.stop - some.start, *sides)
            s, p = (table[: math.prod(shape)].view(shape) for table in (scores, weights))
            soft = _softmax(record, some, rows, cols, blocked, s, p)
            row_max[some, rows], row_log_sum[some, rows] = soft.row_max, soft.row_log_sum
            # Rows first: there are few cells of the overview in a block of rows.
            overview[some, own] += (grouped.expand(shape[0], -1, -1) @ p) @ pool[cols]
            numbers[some, rows] = row_metrics(
                p,
                rows.start,
                cols.start,
                entropy=soft.entropy,
                distance=p @ before + soft.total * torch.arange(sides[0], device=where)
                if gaps is None
                else torch.mul(p, gaps, out=s).sum(-1),
            )
            if values is not None and output is not None:
                group = heads // values.shape[0]
                v = values[some.start // group : (some.stop - 1) // group + 1, cols].to(dtype)
                output[some, rows] = torch.bmm(p.view(len(v), -1, shape[2]), v).view(*shape[:2], -1)
    return Streamed(
        record=record.normalised(row_max, row_log_sum),
        overview=overview,
        metrics=mean_rows(numbers.cpu()),  # in float64, which not every device has
        output=None if output is None else output.to(record.queries.dtype),
    )


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
    if record.sinks is not None:
        # One more logit a row: the sum grows by its share, and it may be the largest.
        sink = of_queries(record.sinks[heads], rows).to(s.dtype) - top
        share = torch.nn.functional.softplus(sink - log_sum, threshold=50)
        log_sum = log_sum + share
        p *= (-share).exp()[..., None]
    total = p.sum(-1)
    entropy = log_sum * total - s.mul_(p).sum(-1)
    if bool(empty.any()):
        # A row without a key has no weight anywhere, rather than the same on every key.
        p.masked_fill_(empty[..., None], 0.0)
        log_sum[empty] = torch.inf
        entropy[empty] = 0.0
        total = p.sum(-1)
    return _Softmax(total, top, log_sum, entropy)


def blocks(length: int, step: int) -> list[slice]:
    return [slice(start, min(start + step, length)) for start in range(0, length, step)]

"""One pass over a layer's rows, block by block: log-sum-exp, overview, metrics, output.

No block is larger than fits a core's cache, so nothing ever holds T x T for all heads, and the
pass costs about as much as the attention itself. What a causal or sliding mask forbids is not
computed.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from attnviz.metrics.heads import NAMES, mean_rows, row_metrics
from attnviz.models.layers import LayerRecord

ROWS = 256
CELLS = 2**19  # of a block, all its heads together: 2 MiB in float32


@dataclass(frozen=True)
class Streamed:
    """What one pass leaves."""

    record: LayerRecord  # with its rows' maximum and log-sum
    overview: Float[Tensor, "heads size size"]
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
    overview = torch.zeros(heads, int(bins_q[-1]) + 1, pool.shape[1], dtype=dtype, device=where)
    row_max = torch.empty(heads, n_queries, dtype=dtype, device=where)
    row_log_sum = torch.empty_like(row_max)
    numbers = torch.empty(heads, n_queries, len(NAMES), dtype=dtype, device=where)
    output = None
    if values is not None:
        output = torch.empty(heads, n_queries, values.shape[-1], dtype=dtype, device=where)

    for rows in _blocks(n_queries, ROWS):
        cols = record.rule.reach(rows, n_keys)
        per_block = max(1, CELLS // ((rows.stop - rows.start) * (cols.stop - cols.start)))
        for some in _blocks(heads, per_block):
            p, top, log_sum = _softmax(record, some, rows, cols)
            row_max[some, rows], row_log_sum[some, rows] = top, log_sum
            overview[some].index_add_(1, bins_q[rows], p @ pool[cols])
            numbers[some, rows] = row_metrics(p, rows.start, cols.start)
            if values is not None and output is not None:
                group = heads // values.shape[0]
                v = values[[h // group for h in range(some.start, some.stop)]][:, cols]
                output[some, rows] = p @ v.to(dtype)
    overview /= torch.bincount(bins_q)[None, :, None].to(dtype)
    return Streamed(
        record=record.normalised(row_max, row_log_sum),
        overview=overview,
        metrics=mean_rows(numbers),
        output=None if output is None else output.to(record.queries.dtype),
    )


def bins(length: int, size: int) -> Tensor:
    """The overview cell of each position: equal cells, or one a token where there are fewer."""
    size = min(size, length)
    return torch.arange(length) * size // length


def _softmax(
    record: LayerRecord, heads: slice, rows: slice, cols: slice
) -> tuple[Tensor, Tensor, Tensor]:
    """(weights, row maximum, row log-sum) of a block that holds every key its rows see."""
    p = record.scores(heads, rows, cols)
    top = p.amax(-1)  # (heads, rows)
    empty = top == torch.finfo(p.dtype).min  # no allowed key at all
    if record.sinks is not None:
        sink = record.sinks[heads, None].to(p.dtype)
        top = torch.maximum(top, sink)
    total = p.sub_(top[..., None]).exp_().sum(-1)
    if record.sinks is not None:
        total += (sink - top).exp()
    log_sum = total.log()
    # A row without a key has no weight anywhere, rather than the same on every key.
    log_sum[empty] = torch.inf
    p /= total[..., None]
    p.masked_fill_(empty[..., None], 0.0)
    return p, top, log_sum


def _blocks(length: int, step: int) -> list[slice]:
    return [slice(start, min(start + step, length)) for start in range(0, length, step)]

"""A head's map made smaller for the eye: the largest weight of each block of queries and keys.

exp grows with its argument, so the largest score of a block has its largest weight: the blocks
are taken of the scores, and only one exp a block is paid. Nothing is T x T.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Bool, Float, Float32
from torch import Tensor

from attnviz.models.layers import LayerRecord, of_heads
from attnviz.models.stream import ROWS, blocks


def largest(
    record: LayerRecord, head: int, block: int, rows: slice, cols: slice
) -> tuple[Float32[np.ndarray, "down across"], Bool[np.ndarray, "down across"]]:
    """(the largest weight of each block x block cells, True where the mask forbids all of them).

    rows and cols are spans of positions (start and stop given); the last blocks may be cut.
    """
    if record.row_max is None or record.row_log_sum is None:
        raise RuntimeError("this layer's rows have not been streamed yet")
    down, across = (-(-(span.stop - span.start) // block) for span in (rows, cols))
    logs = record.row_max.new_full((down, across), -torch.inf)
    step = max(block, ROWS // block * block)
    for part in blocks(rows.stop - rows.start, step):
        some = slice(rows.start + part.start, rows.start + part.stop)
        seen = record.rule.reach(some, record.n_keys)
        first = max(cols.start, seen.start)
        first -= (first - cols.start) % block
        # Keys before the first query are most of them, and a causal mask forbids none: apart,
        # they need no mask.
        middle = min(max(first, some.start - (some.start - cols.start) % block), cols.stop)
        top = record.row_max.new_full((some.stop - some.start, across), -torch.inf)
        for span in (slice(first, middle), slice(middle, min(cols.stop, seen.stop))):
            if span.stop > span.start:
                at = (span.start - cols.start) // block
                _raise(top[:, at:], record, slice(head, head + 1), some, span, block)
        top -= record.row_max[head, some, None]
        top -= record.row_log_sum[head, some, None]
        short = -len(top) % block
        if short:
            top = torch.cat([top, top.new_full((short, across), -torch.inf)])
        at = part.start // block
        tall = len(top) // block
        logs[at : at + tall] = top.view(tall, block, across).amax(1)
    return logs.exp().float().numpy(), (logs == -torch.inf).numpy()


def _raise(
    top: Float[Tensor, "rows across"],
    record: LayerRecord,
    head: slice,
    rows: slice,
    cols: slice,
    block: int,
) -> None:
    """Take these keys' scores into the largest of each row's blocks, in place.

    The keys go by their place in their block, so that each step compares whole rows of blocks.
    """
    for offset in range(min(block, cols.stop - cols.start)):
        keys = slice(cols.start + offset, cols.stop, block)
        scores = record.scores(head, rows, keys)[0]
        blocked = record.blocked(rows, keys)
        if blocked is not None:
            scores.masked_fill_(of_heads(blocked, head)[0], -torch.inf)
        part = top[:, : scores.shape[1]]
        torch.maximum(part, scores, out=part)


def tops(record: LayerRecord, head: int) -> Float32[np.ndarray, " rows"]:
    """The largest weight of each row: exp(its largest score - its log-sum-exp)."""
    if record.row_log_sum is None:
        raise RuntimeError("this layer's rows have not been streamed yet")
    return (-record.row_log_sum[head]).exp().float().numpy()


def stacked(maps: Sequence[np.ndarray], rank: int) -> np.ndarray:
    """One array over layers, of that rank; where a layer has fewer heads, the rest is NaN."""
    if not maps:
        return np.zeros((0,) * rank, dtype=np.float32)
    heads = max(each.shape[0] for each in maps)
    out = np.full((len(maps), heads, *maps[0].shape[1:]), np.nan, dtype=np.float32)
    for place, each in enumerate(maps):
        out[place, : each.shape[0]] = each
    return out

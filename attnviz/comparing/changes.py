"""How far every head's map moved between two runs, in blocks: no two maps are held whole.

Over the pairs of queries, with the weight on keys that have no partner, and on a learned sink,
pooled in one more cell a row, so that a row still adds up to 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float, Float32, Float64, Int
from torch import Tensor

from attnviz.models.pooling import stacked
from attnviz.models.progress import Progress, silent
from attnviz.models.slices import whole_number
from attnviz.models.stream import bins, blocks

if TYPE_CHECKING:
    from attnviz.comparing.aligned import Maps
    from attnviz.comparing.alignment import Alignment

CELLS = 2**20  # of a block, all its heads together: 4 MiB in float32
ROWS = 256  # of a block
Read = tuple[Float[Tensor, "heads rows cols"], Float64[Tensor, "heads rows"]]
"""The weights on the paired keys, and on all others together."""
COLUMNS = ("layer", "head", "distance", "moved", "query_a", "query_b")


@dataclass(frozen=True, eq=False)
class Changes:
    """Every head of two runs of the same shape, the most changed first.

    table: distance is the square root of the mean over pairs of queries of the Jensen-Shannon
    divergence in bits (Lin 1991; its root is a metric, Endres and Schindelin 2003): 0 for equal
    rows (of texts of other lengths up to float32's rounding, 1e-7), 1 for rows that share no key.
    moved is the mean total variation, the share of a row's weight that lies elsewhere. query_a and
    query_b are the positions of the pair whose row moved most. Effective maps are signed: they
    have no distance (NaN), and moved is half the summed absolute difference over the paired keys,
    which may be more than 1.
    """

    table: pd.DataFrame  # COLUMNS, a row a head
    thumbnails: Float32[np.ndarray, "layers heads down across"]  # of B - A, mean of each cell

    @property
    def nbytes(self) -> int:
        return self.thumbnails.nbytes + int(self.table.memory_usage().sum())


def changes(
    a: Maps,
    b: Maps,
    rows: Alignment,
    cols: Alignment,
    *,
    size: int = 32,
    progress: Progress = silent,
) -> Changes:
    """The changes of two runs whose layers have the same heads; rows and cols pair their tokens.

    Cell (i, j) of a thumbnail is the mean of B - A over the pairs in its block of slots, NaN
    where there are none.
    """
    grid = _Cells(rows, cols, whole_number("size", size, 1))
    found, thumbnails = [], []
    layers = a.captured
    for place, layer in enumerate(layers):
        progress(place / len(layers), f"Comparing layer {layer.index}")
        one, other = a.records[layer.index], b.records[layer.index]
        numbers = torch.full((layer.n_heads, len(grid.a_rows), 2), torch.nan)
        pooled = torch.zeros(layer.n_heads, *grid.shape)
        for heads, span, (p, p_rest), (q, q_rest) in _blocks(one, other, layer.n_heads, grid):
            pooled[heads].index_add_(1, grid.row_bins[span], (q - p) @ grid.pool[: p.shape[2]])
            if a.signed:
                numbers[heads, span, 1] = (p - q).abs().sum(-1) / 2
            else:
                numbers[heads, span] = _row_changes(p, p_rest, q, q_rest)
        thumbnails.append((pooled / grid.counts).numpy())
        found += _lines(layer.index, numbers, grid, signed=a.signed)
    table = pd.DataFrame(found, columns=list(COLUMNS))
    by = "moved" if a.signed else "distance"
    order = np.argsort(-table[by].fillna(-1.0).to_numpy(), kind="stable")
    return Changes(table.iloc[order].reset_index(drop=True), stacked(thumbnails, 4))


class _Cells:
    """The paired rows and columns as index tensors, and the cells of a thumbnail they fall in."""

    def __init__(self, rows: Alignment, cols: Alignment, size: int) -> None:
        both, across = rows.paired, cols.paired
        self.a_rows, self.b_rows = (
            torch.from_numpy(side[both].copy()) for side in (rows.a, rows.b)
        )
        self.a_cols, self.b_cols = (
            torch.from_numpy(side[across].copy()) for side in (cols.a, cols.b)
        )
        self.row_bins = bins(len(rows), size)[torch.from_numpy(both)]
        col_bins = bins(len(cols), size)[torch.from_numpy(across)]
        self.shape = (min(size, len(rows)), min(size, len(cols)))
        self.pool = torch.zeros(len(col_bins), self.shape[1])
        self.pool[torch.arange(len(col_bins)), col_bins] = 1.0
        down = torch.bincount(self.row_bins, minlength=self.shape[0])
        self.counts = down[:, None] * self.pool.sum(0)  # pairs of a query and a key in each cell


def _blocks(
    one: Any, other: Any, n_heads: int, grid: _Cells
) -> Iterator[tuple[slice, slice, Read, Read]]:
    """(heads, places among the paired rows, A's weights, B's), block by block.

    Keys behind the last that either mask lets a block see are left out.
    """
    n_keys = max(_n_keys(one), _n_keys(other))
    # A state is run through from its beginning for every block: all rows of a head go at once.
    most = max(1, min(ROWS, CELLS // n_keys)) if hasattr(one, "rule") else n_keys
    for heads in blocks(n_heads, max(1, CELLS // (most * n_keys))):
        for span in _spans(grid.a_rows, grid.b_rows, most):
            sides = ((one, grid.a_rows[span], grid.a_cols), (other, grid.b_rows[span], grid.b_cols))
            width = max(int((cols < _reach(record, rows)).sum()) for record, rows, cols in sides)
            p, q = (_read(record, heads, rows, cols[:width]) for record, rows, cols in sides)
            yield heads, span, p, q


def _spans(a: Int[Tensor, " rows"], b: Int[Tensor, " rows"], most: int) -> Iterator[slice]:
    """Places of pairs that lie within so many rows of A, and of B: what is read for a block."""
    start = 0
    for at in range(1, len(a) + 1):
        if at == len(a) or max(a[at] - a[start], b[at] - b[start]) >= most:
            yield slice(start, at)
            start = at


def _n_keys(record: Any) -> int:
    return record.n_keys if hasattr(record, "rule") else record.length


def _span(rows: Tensor) -> slice:
    return slice(int(rows[0]), int(rows[-1]) + 1)


def _reach(record: Any, rows: Tensor) -> int:
    """The key behind the last that any of these queries sees."""
    n_keys = _n_keys(record)
    return record.rule.reach(_span(rows), n_keys).stop if hasattr(record, "rule") else n_keys


def _read(
    record: Any, heads: slice, rows: Int[Tensor, " rows"], cols: Int[Tensor, " cols"]
) -> Read:
    """A record's weights at these positions, which go up, and what is left of each row.

    The rest is added up from the weights that are its own: what the others leave of 1 would be
    their rounding, too, where there is no rest.
    """
    span = _span(rows)
    stop = max(_reach(record, rows), int(cols[-1]) + 1 if len(cols) else 0)
    weights = record.weights(heads, span, slice(0, stop)).float().cpu()[:, rows - span.start]
    alone = torch.ones(stop, dtype=torch.bool)
    alone[cols] = False
    rest = weights[:, :, alone].double().sum(-1)
    if getattr(record, "sinks", None) is not None:
        rest += record.sink_weights(heads, span).double().cpu()[:, rows - span.start]
    return weights[:, :, cols], rest


def _row_changes(
    p: Float[Tensor, "heads rows cols"],
    p_rest: Float[Tensor, "heads rows"],
    q: Float[Tensor, "heads rows cols"],
    q_rest: Float[Tensor, "heads rows"],
) -> Float[Tensor, "heads rows 2"]:
    """(divergence in bits, total variation) of each row; the rest of a row is one more cell."""
    moved = (p - q).abs().sum(-1) + (p_rest - q_rest).abs()
    bits = divergence(p, q) + divergence(p_rest[..., None], q_rest[..., None])
    return torch.stack([bits.clamp(0, 1), moved / 2], -1).float()


def divergence(
    p: Float[Tensor, "*batch cells"], q: Float[Tensor, "*batch cells"]
) -> Float[Tensor, "*batch"]:
    """The Jensen-Shannon divergence of rows of weights, in bits.

    Of d = (p - q) / (p + q) a cell has (p log2(1 + d) + q log2(1 - d)) / 2, which is exactly 0
    for equal rows and keeps its digits for nearly equal ones, where entropies would cancel.
    """
    total = (p + q).clamp_min(torch.finfo(p.dtype).tiny)
    d = (p - q) / total
    # Near 1 and -1 the digits of the smaller weight are lost in d; there it is asked itself.
    cells = torch.where(
        d < -0.5, torch.special.xlogy(p, 2 * p / total), torch.special.xlog1py(p, d)
    )
    cells += torch.where(
        d > 0.5, torch.special.xlogy(q, 2 * q / total), torch.special.xlog1py(q, -d)
    )
    return cells.sum(-1) / (2 * math.log(2))


def _lines(
    layer: int, numbers: Float[Tensor, "heads rows 2"], grid: _Cells, *, signed: bool
) -> list[tuple[Any, ...]]:
    """A line of the table for each head."""
    lines = []
    for head, both in enumerate(numbers):
        if not len(both):
            lines.append((layer, head, math.nan, math.nan, -1, -1))
            continue
        bits, moved = both.double().mean(0).tolist()
        most = int(both[:, 1 if signed else 0].argmax())
        places = int(grid.a_rows[most]), int(grid.b_rows[most])
        lines.append((layer, head, math.sqrt(bits) if bits >= 0 else math.nan, moved, *places))
    return lines

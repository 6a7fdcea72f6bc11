"""How alike two attention maps are. Tensor in, number out.

Rows that hold no weight (a query with no key) or none defined (NaN) say nothing about likeness
and are left out of every mean.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor


def jensen_shannon(
    left: Float[Tensor, "*batch queries keys"],
    right: Float[Tensor, "*batch queries keys"],
    entropies: tuple[Tensor, Tensor] | None = None,
) -> Float[Tensor, "*batch"]:
    """Mean over queries of the Jensen-Shannon divergence of two weight rows, in bits.

    JS(p, q) = H((p + q) / 2) - (H(p) + H(q)) / 2 with H the entropy (Lin 1991, eq. 4.1): 0 where
    the rows are equal, 1 where they share no key. Rows must be softmax weights. entropies: those
    of the two maps' rows (row_entropy), for who compares one map with many.
    """
    of_left, of_right = entropies or (row_entropy(left), row_entropy(right))
    rows = row_entropy((left + right) / 2) - (of_left + of_right) / 2
    return _mean_over_queries(rows.clamp(0, 1), left, right)


def cosine(
    left: Float[Tensor, "*batch queries keys"], right: Float[Tensor, "*batch queries keys"]
) -> Float[Tensor, "*batch"]:
    """Mean over queries of the cosine of two rows: 1 for the same direction, 0 for no overlap.

    Any rows will do: weights, effective maps, or vectors of one position.
    """
    lengths = left.norm(dim=-1) * right.norm(dim=-1)
    rows = (left * right).sum(-1) / lengths.clamp_min(torch.finfo(left.dtype).tiny)
    return _mean_over_queries(rows.clamp(-1, 1), left, right)


def total_variation(
    left: Float[Tensor, "*batch queries keys"], right: Float[Tensor, "*batch queries keys"]
) -> Float[Tensor, "*batch"]:
    """Mean over queries of half the summed absolute difference: the share of weight that moved."""
    return _mean_over_queries((left - right).abs().sum(-1) / 2, left, right)


Measure = Callable[[Tensor, Tensor], Tensor]


def between_heads(
    maps: Float[Tensor, "heads queries keys"], measure: Measure = jensen_shannon
) -> Float[Tensor, "heads heads"]:
    """The measure for every pair of heads of one layer: a symmetric matrix.

    A row at a time, so that memory grows with heads, not with heads squared.
    """
    return torch.stack([measure(one.expand_as(maps), maps) for one in maps])


def row_entropy(
    weights: Float[Tensor, "*batch queries keys"],
) -> Float[Tensor, "*batch queries"]:
    """-sum p log2 p of every row: its entropy in bits."""
    return -torch.xlogy(weights, weights).sum(-1) / math.log(2)


def _mean_over_queries(rows: Tensor, left: Tensor, right: Tensor) -> Tensor:
    """(*batch, queries) -> (*batch): over the queries that both maps define."""
    known = left.abs().sum(-1).gt(0) & right.abs().sum(-1).gt(0) & ~rows.isnan()
    return torch.where(known, rows, 0).sum(-1) / known.sum(-1)

"""One softmax of a model's own code, before its place on a map is known."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor, nn


@dataclass(frozen=True)
class Raw:
    """Weights of one softmax that are not queries by keys of one text: windows, bands, blocks."""

    module: nn.Module
    name: str
    index: int | None
    group: str
    weights: Tensor


def direct(weights: Tensor) -> Tensor | None:
    """(heads, queries, keys) of one example; None for windows, blocks and other parts of maps."""
    if weights.ndim == 4 and weights.shape[0] == 1:
        return weights[0]
    return weights if weights.ndim == 3 else None

"""Models for pictures whose patches are all weighed once, for a few vectors instead of a row each.

MobileViTv2 (Mehta and Rastegari 2022, Separable self-attention, arXiv:2206.02680, section 3.2):
each place within a patch has one context vector, the softmax over all patches times their keys.
SwiftFormer (Shaker et al. 2023, arXiv:2303.15446, section 3.2): one global query, a sum over all
patches. In both every patch then is multiplied with what it gets, elementwise.
"""

from __future__ import annotations

import re
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from attnviz.errors import ModelError
from attnviz.models.axis import Axis, own_tokens, patches
from attnviz.models.own_code.returned import Found

CONTEXT = (
    "Separable attention: a row is not a pixel that asks but one of the context vectors, one for "
    "each place within a patch, and reads the pixels at that place of every patch. Its weights are "
    "a softmax over the patches; all these pixels then get that one vector, times their own values."
)
GLOBAL = (
    "Additive attention: the one row is the global query, which every patch gets. Its weights are "
    "those that this code uses to add up the patches' queries: it takes the softmax over an axis "
    "of one entry, so that each weight is 1 whatever the picture, and the row adds up to the "
    "number of patches."
)


def contexts(model: Any, prepared: Any, outputs: Any, heard: Any) -> list[Found]:
    """MobileViTv2: a row a place within a patch, a column a pixel of the stage's feature map."""
    side, found, stages = model.model.config.patch_size, [], []
    for index, raw in enumerate(heard.raw):
        weights = raw.weights[0, 0]  # (places, patches)
        rows, columns, pixel = grid_of(prepared.inputs["pixel_values"], weights.shape[1], side)
        maps, allowed = spread(weights, rows, columns, side)
        grid = [divmod(place, side) for place in range(side * side)]
        asks = Axis(
            labels=tuple(f"place r{row}c{column}" for row, column in grid),
            details=tuple(
                f"context vector of row {row}, column {column} in every patch of {side} × {side}"
                for row, column in grid
            ),
            ids=tuple(range(len(grid))),
            special=(False,) * len(grid),
        )
        if raw.index not in stages:
            stages.append(raw.index)
        axes = (asks, patches(rows * side, columns * side, pixel))
        found.append(Found(f"stage {len(stages)}", index, maps, allowed, axes, CONTEXT))
    return found


def spread(
    weights: Float[Tensor, "places patches"], rows: int, columns: int, side: int
) -> tuple[Float[Tensor, "1 places pixels"], Bool[Tensor, "1 places pixels"]]:
    """(maps over the pixels, row by row, the pairs of a place with the pixels that it reads)."""
    where = torch.arange(rows * side * columns * side).view(rows, side, columns, side)
    pixels: Int[Tensor, "places patches"] = where.permute(1, 3, 0, 2).flatten(2).flatten(0, 1)
    maps = weights.new_zeros(len(pixels), where.numel()).scatter(1, pixels, weights)
    allowed = torch.zeros_like(maps, dtype=torch.bool).scatter(1, pixels, True)
    return maps[None], allowed[None]


def global_query(model: Any, prepared: Any, outputs: Any, heard: Any) -> list[Found]:
    """SwiftFormer: one row a stage, of the block at its end; blocks are numbered through."""
    names = [name for name, _ in model.model.named_modules()]
    blocks = [name for name in names if re.search(r"\.blocks\.\d+$", name)]
    found = []
    for place, raw in enumerate(heard.raw):
        weights = raw.weights[0].T  # (1, patches)
        rows, columns, pixel = grid_of(prepared.inputs["pixel_values"], weights.shape[1])
        axes = (own_tokens(1, "global query", "global query"), patches(rows, columns, pixel))
        index = blocks.index(raw.name.rpartition(".")[0])
        group = f"stage {place + 1}"
        found.append(Found(group, index, weights[None], None, axes, GLOBAL, effective=True))
    return found


def grid_of(pixels: Tensor, length: int, side: int = 1) -> tuple[int, int, int]:
    """(rows, columns of so many patches of side x side features, the pixels along a feature).

    A stage halves the picture some times, the last feature being cut by the edge.
    """
    height, width = pixels.shape[-2:]
    for halvings in range(max(height, width).bit_length()):
        stride = 2**halvings
        rows, columns = (-(-size // stride) // side for size in (height, width))
        if rows * columns == length:
            return rows, columns, stride
    raise ModelError(
        f"{length} patches of {side} × {side} features do not cover a picture of {height} × "
        f"{width} pixels; choose a picture whose sides are multiples of 32."
    )

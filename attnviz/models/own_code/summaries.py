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

from attnviz.models.axis import Axis, own_tokens, patches
from attnviz.models.own_code.raw import Raw
from attnviz.models.own_code.returned import Found
from attnviz.models.own_code.unfolded import pixel_places, stride_before
from attnviz.models.own_code.windows import placed

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
    """MobileViTv2: a row a place within a patch, a column a pixel of the stage's feature map.

    Pixels at the edge that fill no patch are left out, as the model leaves them out.
    """
    side, found = model.model.config.patch_size, []
    stages = list(dict.fromkeys(raw.index for raw in heard.raw))
    asks = places_within(side)
    for index, raw in enumerate(heard.raw):
        rows, columns, pixel = feature_map(model, prepared, raw)
        rows, columns = rows // side * side, columns // side * side
        maps = over_pixels(raw.weights[0, 0], pixel_places(rows, columns, side))
        axes = (asks, patches(rows, columns, pixel))
        group = f"stage {stages.index(raw.index) + 1}"
        found.append(Found(group, index, *maps, axes, CONTEXT))
    return found


def global_query(model: Any, prepared: Any, outputs: Any, heard: Any) -> list[Found]:
    """SwiftFormer: one row a stage, of the block at its end; blocks are numbered through."""
    names = [name for name, _ in model.model.named_modules()]
    blocks = [name for name in names if re.search(r"\.blocks\.\d+$", name)]
    found = []
    for place, raw in enumerate(heard.raw):
        rows, columns, pixel = feature_map(model, prepared, raw)
        maps = over_pixels(raw.weights[0].T, torch.arange(rows * columns)[None])
        axes = (own_tokens(1, "global query", "global query"), patches(rows, columns, pixel))
        index = blocks.index(raw.name.rpartition(".")[0])
        found.append(Found(f"stage {place + 1}", index, *maps, axes, GLOBAL, effective=True))
    return found


def over_pixels(
    weights: Float[Tensor, "vectors patches"], pixels: Int[Tensor, "vectors2 patches2"]
) -> tuple[Float[Tensor, "1 vectors pixels"], Bool[Tensor, "1 vectors pixels"]]:
    """(maps with a column a pixel, the pixels that each vector is made of).

    Raises ModelError where there are other patches than weights.
    """
    rows = torch.arange(len(weights))[:, None]
    return placed(weights[:, None, None], rows, pixels, (len(rows), pixels.numel()))


def feature_map(model: Any, prepared: Any, raw: Raw) -> tuple[int, int, int]:
    """(rows, columns, pixels of the picture along a side of each), where this attention is."""
    down = stride_before(model.model, raw.module)
    height, width = prepared.inputs["pixel_values"].shape[-2:]
    return -(-height // down), -(-width // down), down


def places_within(side: int) -> Axis:
    """The places within a patch of side x side pixels, row by row."""
    grid = [divmod(place, side) for place in range(side * side)]
    return Axis(
        labels=tuple(f"place r{row}c{column}" for row, column in grid),
        details=tuple(
            f"context vector of row {row}, column {column} in every patch of {side} × {side}"
            for row, column in grid
        ),
        ids=tuple(range(len(grid))),
        special=(False,) * len(grid),
    )

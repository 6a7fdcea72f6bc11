"""MobileViT: pixels of a feature map that attend to those at the same place of their patch.

Mehta and Rastegari 2022, MobileViT (arXiv:2110.02178), section 3.1: the feature map is unfolded
into patches of 2 x 2 pixels, and the transformer reads the first pixels of all patches, the second
ones, and so on, each for itself. A map over all pixels is 0 between pixels of different places.
"""

from __future__ import annotations

from typing import Any

import torch
from jaxtyping import Int
from torch import Tensor, nn

from attnviz.models.axis import cells
from attnviz.models.own_code.returned import Found
from attnviz.models.own_code.windows import placed


def unfolded(model: Any, prepared: Any, outputs: Any, heard: Any) -> list[Found]:
    """Every layer's maps over the pixels of its feature map, row by row.

    A feature map that patches do not divide is stretched until they do: its pixels are those
    that attend.
    """
    side = model.model.config.patch_size
    height, width = prepared.inputs["pixel_values"].shape[-2:]
    found = []
    for index, raw in enumerate(heard.raw):
        down = stride_before(model.model, raw.module)
        before = -(-height // down), -(-width // down)
        rows, columns = (-(-size // side) * side for size in before)
        places = pixel_places(rows, columns, side)
        maps, allowed = placed(raw.weights, places, places, (rows * columns,) * 2)
        axis = cells(rows, columns, before[0] * down / rows, before[1] * down / columns)
        stage = raw.index - 1  # the model's own layers 0 and 1 are convolutions only
        found.append(Found(f"stage {stage}", index, maps, allowed, (axis, axis)))
    return found


def pixel_places(rows: int, columns: int, side: int) -> Int[Tensor, "places patches"]:
    """The pixel, counted row by row, at each place of each patch."""
    pixels = torch.arange(rows * columns).view(rows // side, side, columns // side, side)
    return pixels.permute(1, 3, 0, 2).reshape(side * side, -1)


def stride_before(model: nn.Module, attention: nn.Module) -> int:
    """Pixels of the picture along a side of a feature map's, by the convolutions that led there."""
    down = 1
    for module in model.modules():
        if module is attention:
            break
        if isinstance(module, nn.Conv2d):
            down *= module.stride[0]
    return down

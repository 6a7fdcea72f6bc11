"""Swin: attention within windows of a picture, placed where the windows lie on it.

Liu et al. 2021, Swin transformer (arXiv:2103.14030), section 3.2: in every second layer the
windows are shifted, cyclically, and a mask keeps apart what the shift has joined.
"""

from __future__ import annotations

import re
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from attnviz.errors import ModelError
from attnviz.models.axis import patches
from attnviz.models.own_code.returned import Found


def windowed(model: Any, prepared: Any, outputs: Any, heard: Any) -> list[Found]:
    """Every layer's maps over the patches of its stage, row by row."""
    config = model.model.config
    height, width = prepared.inputs["pixel_values"].shape[-2:]
    found = []
    for index, raw in enumerate(heard.raw):
        stage = int(re.findall(r"\.(\d+)\.", f".{raw.name}.")[0])
        down = config.patch_size * 2**stage
        rows, columns = -(-height // down), -(-width // down)
        block = _block(model.model, raw.name)
        if block is None:
            raise ModelError(
                f"{model.title} has windows whose shift is not known; choose another model."
            )
        side = block.window_size
        side = int(side[0] if isinstance(side, (tuple, list)) else side)
        shift = block.shift_size
        shift = int(shift[0] if isinstance(shift, (tuple, list)) else shift)
        places = window_places(rows, columns, side, shift)
        maps, allowed = placed(raw.weights, places, places, (rows * columns,) * 2)
        allowed &= apart(rows, columns, shift)
        axis = patches(rows, columns, down)
        found.append(Found(f"stage {stage + 1}", index, maps, allowed, (axis, axis)))
    return found


def window_places(
    rows: int, columns: int, side: int, shift: int
) -> Int[Tensor, "windows positions"]:
    """The patch at each position of each window, -1 for one that only pads the picture."""
    tall, wide = -(-rows // side) * side, -(-columns // side) * side
    places = torch.full((tall, wide), -1)
    places[:rows, :columns] = torch.arange(rows * columns).view(rows, columns)
    places = places.roll((-shift, -shift), (0, 1))
    cut = places.view(tall // side, side, wide // side, side).transpose(1, 2)
    return cut.reshape(-1, side * side)


def apart(rows: int, columns: int, shift: int) -> Bool[Tensor, "1 queries keys"]:
    """False for pairs that only the shift has brought together: one side of it came around."""
    row = torch.arange(rows)[:, None].expand(rows, columns).reshape(-1) < shift
    column = torch.arange(columns).expand(rows, columns).reshape(-1) < shift
    same = (row[:, None] == row[None]) & (column[:, None] == column[None])
    return same[None]


def placed(
    windows: Float[Tensor, "windows heads q k"],
    queries: Int[Tensor, "windows_q q"],
    keys: Int[Tensor, "windows_k k"],
    shape: tuple[int, int],
) -> tuple[Float[Tensor, "heads queries keys"], Bool[Tensor, "1 queries keys"]]:
    """(the maps over all patches, the pairs that share a window).

    queries, keys: the patch at each position of each window, -1 for none; shape: how many
    patches there are of each. Raises ModelError where these are places of other windows.
    """
    expected = (*queries.shape, keys.shape[1])
    if (windows.shape[0], *windows.shape[2:]) != expected or len(queries) != len(keys):
        raise ModelError(
            f"Windows of shape {tuple(windows.shape)} do not cover {shape[1]} patches; expected "
            f"{len(keys)} windows of {queries.shape[1]} queries by {keys.shape[1]} keys."
        )
    maps = windows.new_zeros(windows.shape[1], *shape)
    allowed = torch.zeros(1, *shape, dtype=torch.bool)
    for window, asking, read in zip(windows, queries, keys, strict=True):
        i, j = (asking >= 0).nonzero(), (read >= 0).nonzero()[:, 0][None]
        maps[:, asking[i], read[j]] = window[:, i, j]
        allowed[:, asking[i], read[j]] = True
    return maps, allowed


def _block(model: Any, name: str) -> Any:
    """The module about this attention that knows its window's size and shift."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        module = model.get_submodule(".".join(parts[:end]))
        if hasattr(module, "shift_size") and hasattr(module, "window_size"):
            return module
    return None

"""PEGASUS-X: blocks that see only themselves, and global tokens that join them.

Phang et al. 2022, Investigating efficiently extending transformers (arXiv:2208.04347), section
4: in every second layer the blocks are staggered by half a block, padded at both ends.
"""

from __future__ import annotations

from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attnviz.models.axis import Axis, own_tokens
from attnviz.models.own_code.raw import direct
from attnviz.models.own_code.returned import Found


def global_local(model: Any, prepared: Any, outputs: Any, heard: Any) -> list[Found]:
    """The encoder's maps with the global tokens before the text's; the decoder's as they are."""
    source: Axis = prepared.axes["source"]
    length, found = len(source), []
    layers: dict[int, list[Tensor]] = {}
    for raw in heard.raw:
        if raw.group == "encoder":
            layers.setdefault(raw.index or 0, []).append(raw.weights[0])
        elif (maps := direct(raw.weights)) is not None:
            found.append(Found(raw.group, raw.index or 0, maps))
    own = []
    for index, parts in layers.items():
        whole = next(part for part in parts if part.ndim == 3)  # (heads, globals, globals + keys)
        local = next(
            part for part in parts if part.ndim == 4
        )  # (heads, blocks, side, globals + side)
        config = model.model.config
        shift = local.shape[2] // 2 if index % 2 and config.stagger_local_blocks else 0
        maps, allowed = together(whole, local, length, shift)
        axis = own_tokens(whole.shape[1], "global", "global token") + source
        own.append(Found("encoder", index, maps, allowed, (axis, axis)))
    return own + found


def together(
    whole: Float[Tensor, "heads globals all"],
    local: Float[Tensor, "heads blocks side seen"],
    length: int,
    shift: int,
) -> tuple[Float[Tensor, "heads queries keys"], Bool[Tensor, "1 queries keys"]]:
    """(the maps, the pairs that the pattern allows), the global tokens first on both sides."""
    heads, n_global, _ = whole.shape
    n_blocks, side = local.shape[1:3]
    size = n_global + length
    maps = whole.new_zeros(heads, size, size)
    allowed = torch.zeros(1, size, size, dtype=torch.bool)
    maps[:, :n_global, :n_global] = whole[:, :, :n_global]
    maps[:, :n_global, n_global:] = whole[:, :, n_global + shift : n_global + shift + length]
    allowed[:, :n_global] = True
    allowed[:, :, :n_global] = True
    for block in range(n_blocks):
        places = torch.arange(block * side, (block + 1) * side) - shift
        real = ((places >= 0) & (places < length)).nonzero()[:, 0]
        rows = (places[real] + n_global)[:, None]
        part = local[:, block][:, real]
        maps[:, rows, torch.arange(n_global)[None]] = part[:, :, :n_global]
        maps[:, rows, rows.T] = part[:, :, n_global:][:, :, real]
        allowed[:, rows, rows.T] = True
    return maps, allowed

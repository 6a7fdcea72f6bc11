"""Longformer and LED: a band about each token, and tokens that see and are seen by all.

Beltagy et al. 2020, Longformer (arXiv:2004.05150), section 3.1. What the library returns has the
band's offsets as columns, after one column for each global token; the rows of global tokens are
0 there and stand in a second tensor.
"""

from __future__ import annotations

from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attnviz.models.own_code.returned import FIELDS, Found, flat


def banded(model: Any, prepared: Any, outputs: Any, heard: Any) -> list[Found]:
    """Every layer's maps as queries by keys; LED's decoder and cross maps as they come."""
    two = model.kind == "encoder_decoder"
    band, everywhere = (
        ("encoder_attentions", "encoder_global_attentions")
        if two
        else ("attentions", "global_attentions")
    )
    length = prepared.inputs["input_ids"].shape[1]
    seen = prepared.inputs.get("global_attention_mask")
    chosen = [] if seen is None else seen[0].nonzero()[:, 0].tolist()
    own = flat(getattr(outputs, everywhere, ()))
    found = []
    for index, part in enumerate(flat(getattr(outputs, band, ()))):
        assert part is not None
        rows = own[index] if chosen and own else None
        whole = None if rows is None else rows[0]
        maps, allowed = unrolled(part[0], whole, chosen, length)
        found.append(Found("encoder" if two else "self", index, maps, allowed))
    for field in ("decoder_attentions", "cross_attentions") if two else ():
        found += [
            Found(FIELDS[field], index, maps[0])
            for index, maps in enumerate(flat(getattr(outputs, field, ())))
            if maps is not None
        ]
    return found


def unrolled(
    band: Float[Tensor, "heads rows offsets"],
    whole: Float[Tensor, "heads padded chosen"] | None,
    chosen: list[int],
    length: int,
) -> tuple[Float[Tensor, "heads queries keys"], Bool[Tensor, "1 queries keys"]]:
    """(the maps, the pairs that the pattern allows).

    band: the weights on the global tokens, then on the window's offsets, of each query. whole:
    the weights of the global tokens' own rows, keys first.
    """
    n_global = len(chosen)
    reach = (band.shape[-1] - n_global) // 2
    maps = band.new_zeros(band.shape[0], length, length)
    allowed = torch.zeros(1, length, length, dtype=torch.bool, device=band.device)
    rows = torch.arange(length, device=band.device)
    for place in range(2 * reach + 1):
        keys = rows + place - reach
        inside = (keys >= 0) & (keys < length)
        i, j = rows[inside], keys[inside]
        maps[:, i, j] = band[:, i, n_global + place]
        allowed[:, i, j] = True
    for place, key in enumerate(chosen):
        maps[:, :, key] += band[:, :length, place]
        allowed[:, :, key] = True
    for place, row in enumerate(chosen):
        if whole is not None:
            maps[:, row] = whole[:, :length, place]
        allowed[:, row] = True
    return maps, allowed

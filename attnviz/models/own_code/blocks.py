"""Attention block by block: LongT5's neighbouring blocks, BigBird's block-sparse pattern.

Guo et al. 2022, LongT5 (arXiv:2112.07916), section 3.1. Zaheer et al. 2020, Big Bird
(arXiv:2007.14062), section 2: each block of queries sees its neighbours, the first and the last
block, and blocks drawn at random. In evaluation the library draws block 0 every time, so that a
key of block 0 stands up to three times in one softmax: its weight is the sum of its places. The
attentions that the library returns keep only one of them (their rows sum to less than 1).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attnviz.errors import ModelError
from attnviz.models.axis import Axis, own_tokens
from attnviz.models.own_code.raw import direct
from attnviz.models.own_code.returned import Found


def neighbours(model: Any, prepared: Any, outputs: Any, heard: Any) -> list[Found]:
    """LongT5: the encoder's blocks unrolled, the decoder's maps as they are.

    In its transient-global form (section 3.1.2) each query also sees a summary of every block of
    keys; these have columns of their own behind the tokens', where a row's sum has to count them.
    """
    source: Axis = prepared.axes["source"]
    found = []
    for raw in heard.raw:
        index = raw.index or 0
        if raw.weights.ndim != 5:
            maps = direct(raw.weights)
            if maps is not None:
                found.append(Found(raw.group, index, maps))
            continue
        maps, allowed = unrolled(raw.weights[0], len(source))
        summaries = own_tokens(maps.shape[2] - len(source), "block", "the summary of block")
        axes = (source, source + summaries)
        found.append(Found(raw.group, index, maps, allowed, axes))
    return found


def unrolled(
    weights: Float[Tensor, "blocks heads side seen"], length: int
) -> tuple[Float[Tensor, "heads queries keys"], Bool[Tensor, "1 queries keys"]]:
    """(maps, the pairs that the pattern allows): the tokens' columns, then those of summaries.

    seen: the keys of the block before, of the block itself and of the one after, then summaries.
    """
    n_blocks, heads, side, seen = weights.shape
    n_summaries = seen - 3 * side
    maps = weights.new_zeros(heads, length, length + n_summaries)
    for block in range(n_blocks):
        rows = torch.arange(block * side, min((block + 1) * side, length))
        keys = torch.arange((block - 1) * side, (block + 2) * side)
        real = (keys >= 0) & (keys < length)
        part = weights[block][:, : len(rows)]
        maps[:, rows[:, None], keys[real][None]] = part[:, :, : 3 * side][:, :, real]
        maps[:, rows, length:] = part[:, :, 3 * side :]
    place = torch.arange(length)
    near = (place[:, None] - place[None]).abs() < side
    return maps, torch.cat([near, near.new_ones(length, n_summaries)], 1)[None]


def short_only(model: Any, prepared: Any, outputs: Any, heard: Any) -> list[Found]:
    """Nyströmformer: its plain softmax of a text as long as its landmarks.

    Of another length it multiplies three softmaxes (Xiong et al. 2021, arXiv:2102.03902), whose
    product may be negative and has rows that do not sum to 1.
    """
    found = [Found(raw.group, raw.index or 0, maps) for raw, maps in _whole(heard, prepared.length)]
    if not found:
        raise ModelError(
            f"{model.title} approximates its weights from landmarks at this length, so it has no "
            "map of weights; choose another model."
        )
    return found


def _whole(heard: Any, length: int) -> Iterator[tuple[Any, Tensor]]:
    for raw in heard.raw:
        maps = direct(raw.weights)
        if maps is not None and maps.shape[1:] == (length, length):
            yield raw, maps


def block_sparse(model: Any, prepared: Any, outputs: Any, heard: Any) -> list[Found]:
    """BigBird: the five softmaxes of each layer put together; of a short text its whole maps."""
    length = prepared.inputs["input_ids"].shape[1]
    side = model.model.config.block_size
    found: list[Found] = []
    parts: dict[int, list[Tensor]] = {}
    for raw in heard.raw:
        index = raw.index or 0
        maps = direct(raw.weights)
        if maps is not None and maps.shape[1:] == (length, length):
            found.append(Found(raw.group, index, maps))
        elif raw.group in ("encoder", "self"):
            parts.setdefault(index, []).append(raw.weights[0])
        elif maps is not None:
            found.append(Found(raw.group, index, maps))
    group = "encoder" if model.kind == "encoder_decoder" else "self"
    own = [
        Found(group, index, together(some, side)[:, :length, :length])
        for index, some in parts.items()
    ]
    return own + found


def together(parts: list[Tensor], side: int) -> Float[Tensor, "heads queries keys"]:
    """One layer's maps from its softmaxes: the first two blocks, the middle, the last two.

    Keys that stand in several places of a softmax have the sum of their weights there.
    """
    if len(parts) != 5:
        raise ModelError(
            f"A block-sparse layer makes 5 softmaxes, not {len(parts)}: this code is not known."
        )
    first, second, middle, before_last, last = parts
    heads, length = first.shape[0], first.shape[-1]
    n = length // side
    maps = first.new_zeros(heads, length, length)

    def add(block: int, weights: Tensor, blocks: list[int]) -> None:
        rows = slice(block * side, (block + 1) * side)
        for place, key in enumerate(blocks):
            columns = slice(key * side, (key + 1) * side)
            maps[:, rows, columns] += weights[:, :, place * side : (place + 1) * side]

    def drawn(weights: Tensor, known: int) -> list[int]:
        return [0] * (weights.shape[-1] // side - known)  # block 0 is what evaluation draws

    add(0, first, list(range(n)))
    add(1, second, [0, 1, 2, n - 1, *drawn(second, 4)])
    for block in range(2, n - 2):
        weights = middle[:, block - 2]
        own = [0, block - 1, block, block + 1, *drawn(weights, 5), n - 1]
        add(block, weights, own)
    add(n - 2, before_last, [0, n - 3, n - 2, n - 1, *drawn(before_last, 4)])
    add(n - 1, last, list(range(n)))
    return maps

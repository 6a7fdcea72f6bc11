"""Returned attentions that are queries by keys already, checked before they are believed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attnviz.errors import ModelError
from attnviz.models.axis import Axis

FIELDS = {
    "attentions": "self",
    "encoder_attentions": "encoder",
    "decoder_attentions": "decoder",
    "cross_attentions": "cross",
}


@dataclass(frozen=True)
class Found:
    """One layer's maps in true coordinates."""

    group: str
    index: int
    maps: Float[Tensor, "heads queries keys"]
    allowed: Bool[Tensor, "#heads queries keys"] | None = None  # None: causal or all, as it looks
    axes: tuple[Axis, Axis] | None = None  # None: what fits the lengths
    note: str = ""  # what these maps are, where they are not queries by keys of a softmax
    effective: bool = False  # the exact A of an output A V, and no softmax
    error: float | None = None  # how far A V is from that output, relative to its largest above 1
    row_limit: float = 0.0  # how far rows may be from 1 where the model itself rounds coarsely


def returned(model: Any, prepared: Any, outputs: Any, heard: Any) -> list[Found]:
    """Every map that the outputs hold, by group and layer.

    Raises ModelError where they hold none, or tensors that are no maps: None, () and states
    of another shape are all told apart from weights.
    """
    found = list(maps_of(outputs, model.title))
    if not found:
        raise ModelError(
            f"{model.title} does not expose its attention: its code uses neither transformers' "
            "attention interface nor output_attentions; choose another model."
        )
    return found


def maps_of(outputs: Any, title: str) -> Iterator[Found]:
    for field, group in FIELDS.items():
        for index, maps in enumerate(flat(getattr(outputs, field, ()))):
            if maps is None:
                continue
            if not is_map(maps):
                raise ModelError(
                    f"{title} returns {field} of shape {tuple(maps.shape)} that are not queries "
                    "by keys of one text; choose another model."
                )
            yield Found(group, index, maps[0])


def flat(value: Any) -> list[Tensor | None]:
    """The tensors of a tuple, or of tuples in a tuple (stages of layers), in order."""
    if value is None or isinstance(value, Tensor):
        return [value]
    return [one for part in value for one in flat(part)] if isinstance(value, (tuple, list)) else []


def is_map(maps: Tensor) -> bool:
    """(1, heads, queries, keys), nothing negative, every row summing to 1 or to nothing."""
    if maps.ndim != 4 or maps.shape[0] != 1 or not bool(torch.isfinite(maps).all()):
        return False
    sums = maps.float().sum(-1)
    near = ((sums - 1).abs() < 1e-2) | (sums == 0)
    return bool((maps >= 0).all()) and bool(near.all())

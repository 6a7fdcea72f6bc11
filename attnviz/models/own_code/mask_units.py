"""Hiera: attention within mask units, its queries pooled between stages, placed on the picture.

Ryali et al. 2023, Hiera: a hierarchical vision transformer without the bells-and-whistles
(arXiv:2306.00989), section 3: the first stages attend within units of 8 x 8 places, the later ones
over the picture; the first layer of a stage takes the largest of each 2 x 2 queries. The places
are kept in an order in which those four, and the places of a unit, are equally far apart.
"""

from __future__ import annotations

from typing import Any

import torch
from jaxtyping import Int
from torch import Tensor

from attnviz.errors import ModelError
from attnviz.models.axis import Axis, cells
from attnviz.models.own_code.returned import Found
from attnviz.models.own_code.windows import placed


def mask_units(model: Any, prepared: Any, outputs: Any, heard: Any) -> list[Found]:
    """Every layer's maps over the places of its stage; of a pooling one, to those of the last."""
    orders, axes = _stages(model.model.config, prepared.inputs["pixel_values"])
    found, stage = [], 0
    for index, raw in enumerate(heard.raw):
        before, stage = stage, stage + (raw.module.query_stride > 1)
        weights = raw.weights[0].transpose(0, 1)  # (windows, heads, queries, keys)
        if weights.shape[0] * weights.shape[3] != len(orders[before]):
            raise ModelError(
                f"{model.title} leaves out parts of the picture, as in its pretraining, so its "
                "maps have no place on it; choose a model that reads all of it."
            )
        queries, keys = (orders[at].view(-1, len(weights)).T for at in (stage, before))
        maps, allowed = placed(weights, queries, keys, (len(orders[stage]), len(orders[before])))
        group = f"stage {stage + 1}" if stage == before else f"stage {stage} to {stage + 1}"
        found.append(Found(group, index, maps, allowed, (axes[stage], axes[before])))
    return found


def _stages(config: Any, pixels: Tensor) -> tuple[list[Tensor], list[Axis]]:
    """Of each number of poolings, the order of the places and what they stand for."""
    (tall, wide), stride = config.patch_stride, config.query_stride
    rows, columns = pixels.shape[-2] // tall, pixels.shape[-1] // wide
    orders, axes = [], []
    for pools in reversed(range(len(config.depths))):
        orders.append(order(rows, columns, stride, pools))
        axes.append(cells(rows, columns, tall, wide))
        rows, columns = rows // stride[0], columns // stride[1]
        tall, wide = tall * stride[0], wide * stride[1]
    return orders, axes


def order(
    rows: int, columns: int, stride: tuple[int, int] | list[int], pools: int
) -> Int[Tensor, " places"]:
    """The places, counted row by row, in the order in which the model has them.

    First comes the place within its 2 x 2, then within the 2 x 2 of these, for each pooling that
    is still to come, and then which unit it is.
    """
    places = torch.arange(rows * columns).view(rows, columns)
    for _ in range(pools):  # (..., rows, columns) -> (..., offsets, rows / 2, columns / 2)
        places = places.unflatten(-2, (-1, stride[0])).unflatten(-1, (-1, stride[1]))
        places = places.movedim((-3, -1), (-4, -3)).flatten(-4, -3)
    return places.flatten()

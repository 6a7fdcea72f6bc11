"""Pictures of shapes with the box and the kind of each: what shapes-detr learns from.

>>> import torch
>>> from attnviz.models.teaching.shapes import draw
>>> picture = draw(torch.Generator().manual_seed(0))
>>> picture.pixels.shape, picture.boxes.shape
(torch.Size([3, 64, 64]), torch.Size([3, 4]))
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

SIDE = 64
KINDS = ("circle", "square", "triangle")
MOST = 3
"""Shapes in a picture, at most; one at least."""
SIZES = (14, 28)
"""Width and height of a shape, in pixels."""


@dataclass(frozen=True)
class Picture:
    """boxes: centre x, centre y, width, height, as shares of the side (DETR's own form)."""

    pixels: Float[Tensor, "channels height width"]  # -1 to 1
    kinds: Int[Tensor, " shapes"]
    boxes: Float[Tensor, "shapes 4"]


def draw(generator: torch.Generator) -> Picture:
    """One to three shapes, each in a colour and size of its own, that do not overlap."""

    def uniform(*shape: int) -> Tensor:
        return torch.rand(*shape, generator=generator)

    def whole(low: int, high: int) -> int:
        return int(torch.randint(low, high + 1, (), generator=generator))

    # Dark, with some noise, redder to the right and bluer to the bottom: DETR adds positions to
    # queries and keys alone, so what a key's value says of its place must be in the picture.
    pixels = uniform(3, 1, 1) * 0.1 + uniform(3, SIDE, SIDE) * 0.1
    pixels[0] += torch.linspace(0, 0.3, SIDE)
    pixels[2] += torch.linspace(0, 0.3, SIDE)[:, None]
    kinds, corners = [], []
    for _ in range(whole(1, MOST)):
        size = whole(*SIZES)
        for _ in range(20):  # a place that is free; none: one shape fewer
            x, y = whole(0, SIDE - size), whole(0, SIDE - size)
            if all(
                x >= r or r_x >= x + size or y >= b or r_y >= y + size for r_x, r_y, r, b in corners
            ):
                break
        else:
            continue
        kinds.append(whole(0, len(KINDS) - 1))
        corners.append((x, y, x + size, y + size))
        colour = 0.5 + 0.5 * uniform(3)
        inside = mask(KINDS[kinds[-1]], size)
        part = pixels[:, y : y + size, x : x + size]
        part[:, inside] = (colour[:, None] + 0.1 * uniform(3, int(inside.sum()))).clamp(max=1.0)
    edges = torch.tensor(corners, dtype=torch.float32) / SIDE
    centre, extent = (edges[:, :2] + edges[:, 2:]) / 2, edges[:, 2:] - edges[:, :2]
    return Picture(pixels * 2 - 1, torch.tensor(kinds), torch.cat([centre, extent], dim=1))


def mask(kind: str, size: int) -> Bool[Tensor, "{size} {size}"]:
    """The pixels of a shape that fills its box."""
    at = (torch.arange(size) + 0.5) / size  # 0 to 1
    y, x = at[:, None], at[None, :]
    if kind == "circle":
        return (x - 0.5) ** 2 + (y - 0.5) ** 2 <= 0.25
    if kind == "triangle":
        return (x - 0.5).abs() <= y / 2
    return torch.ones(size, size, dtype=torch.bool)


def overlap(
    left: Float[Tensor, "*batch n 4"], right: Float[Tensor, "*batch m 4"]
) -> tuple[Float[Tensor, "*batch n m"], Float[Tensor, "*batch n m"]]:
    """(intersection over union, generalised: Rezatofighi et al. 2019) of boxes by their centres."""
    one, other = left[..., :, None, :], right[..., None, :, :]
    low = [box[..., :2] - box[..., 2:] / 2 for box in (one, other)]
    high = [box[..., :2] + box[..., 2:] / 2 for box in (one, other)]
    inner = (torch.minimum(*high) - torch.maximum(*low)).clamp(min=0).prod(-1)
    outer = (torch.maximum(*high) - torch.minimum(*low)).prod(-1)
    union = one[..., 2:].prod(-1) + other[..., 2:].prod(-1) - inner
    return inner / union, inner / union - (outer - union) / outer


def covered(boxes: Float[Tensor, "n 4"], cells: int) -> Float[Tensor, "n {cells}*{cells}"]:
    """The share of each cell of a grid over the picture (row by row) that lies inside each box."""
    edges = torch.linspace(0, 1, cells + 1)
    shares = []
    for axis in (1, 0):
        low = boxes[:, axis, None] - boxes[:, axis + 2, None] / 2
        high = boxes[:, axis, None] + boxes[:, axis + 2, None] / 2
        length = torch.minimum(high, edges[1:]) - torch.maximum(low, edges[:-1])
        shares.append(length.clamp(min=0) * cells)
    return (shares[0][:, :, None] * shares[1][:, None, :]).flatten(1)

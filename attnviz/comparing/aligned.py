"""One head's two maps and their difference in common coordinates, in blocks of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Bool, Float32, Int

from attnviz.comparing.alignment import NONE, Alignment

if TYPE_CHECKING:
    from attnviz.models.captures import Capture
    from attnviz.models.mixers.view import EffectiveMaps

    Maps = Capture | EffectiveMaps

ROWS = 256  # slots a block

Head = tuple[int, int]
"""(true layer index, head)."""


@dataclass(frozen=True)
class Aligned:
    """A map over slots of queries and keys, or for each block x block cells the largest of them.

    NaN where a slot has no such token. Largest is by magnitude, the sign kept.
    """

    values: Float32[np.ndarray, "down across"]
    blocked: Bool[np.ndarray, "down across"]  # all of these cells are masked
    tops: Float32[np.ndarray, " rows"]  # the largest magnitude of each row of slots; NaN: none


def aligned_maps(
    a: Maps, head_a: Head, b: Maps, head_b: Head, rows: Alignment, cols: Alignment, block: int = 1
) -> tuple[Aligned, Aligned, Aligned]:
    """(A's map, B's map, B - A) of these heads. Never renormalised.

    Memory grows with the slots of a few hundred rows, and with the blocks. What one of the two
    masks counts as the 0 that it is; what both mask is blocked in the difference.
    """
    parts: tuple[list[Aligned], ...] = ([], [], [])
    step = max(block, ROWS // block * block)
    for start in range(0, len(rows), step):
        span = slice(start, start + step)
        one = _placed(a, head_a, rows.a[span], cols.a)
        other = _placed(b, head_b, rows.b[span], cols.b)
        both = (other[0] - one[0], one[1] & other[1])
        for found, (values, blocked) in zip(parts, (one, other, both), strict=True):
            found.append(_smaller(values, blocked, block))
    return tuple(  # type: ignore[return-value]
        Aligned(*(np.concatenate(arrays) for arrays in zip(*map(_fields, found), strict=True)))
        for found in parts
    )


def _fields(part: Aligned) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return part.values, part.blocked, part.tops


def _placed(
    maps: Maps, head: Head, rows: Int[np.ndarray, " down"], cols: Int[np.ndarray, " across"]
) -> tuple[Float32[np.ndarray, "down across"], Bool[np.ndarray, "down across"]]:
    """(values, masked) of these slots: NaN, and not masked, where there is no such token."""
    values = np.full((len(rows), len(cols)), np.nan, dtype=np.float32)
    blocked = np.zeros(values.shape, dtype=bool)
    here, there = np.flatnonzero(rows != NONE), np.flatnonzero(cols != NONE)
    if len(here) and len(there):
        span = slice(int(rows[here[0]]), int(rows[here[-1]]) + 1)
        place = np.ix_(here, there)
        values[place] = maps.weights(*head, rows=span)
        blocked[place] = maps.blocked(head[0], rows=span)
    return values, blocked


def _smaller(values: np.ndarray, blocked: np.ndarray, block: int) -> Aligned:
    sizes = np.where(np.isnan(values), -1.0, np.abs(values))
    tops = sizes.max(1)
    tops = np.where(tops < 0, np.nan, tops).astype(np.float32)
    if block == 1:
        return Aligned(values, blocked, tops)
    edges = [(0, -side % block) for side in values.shape]

    def cells(array: np.ndarray, fill: float | bool) -> np.ndarray:
        padded = np.pad(array, edges, constant_values=fill)
        down, across = (side // block for side in padded.shape)
        split = padded.reshape(down, block, across, block).transpose(0, 2, 1, 3)
        return split.reshape(down, across, block * block)

    best = cells(sizes, -2.0).argmax(2)[..., None]
    largest = np.take_along_axis(cells(values, np.nan), best, 2)[..., 0]
    return Aligned(largest, cells(blocked, True).min(2), tops)

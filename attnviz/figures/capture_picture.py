"""A capture of a model that sees -> one query's weights laid over the picture that went in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float32

from attnviz.figures.picture_charts import patches_chart, weights_chart
from attnviz.figures.picture_layers import View
from attnviz.figures.vega import Spec


@dataclass(frozen=True, eq=False)
class Seen:
    """What one query of one head reads of a picture, in the map's own numbers."""

    view: View
    query: str  # as shown
    keys: tuple[str, ...]  # the model's own tokens ([CLS]) and then the patches
    weights: Float32[np.ndarray, " keys"]
    hidden: Bool[np.ndarray, " keys"]  # forbidden by the mask: outside its window
    near: Bool[np.ndarray, "2 rows columns"] | None
    """Whether the mask lets a patch read its right, and its lower neighbour; None: it forbids
    nothing."""
    asking: int | None  # the patch that the query stands for
    word: str = "weight"  # what a number is: "norm" of value-weighted maps, "cell" of signed ones
    signed: bool = False

    @property
    def n_own(self) -> int:
        """Keys that stand for no patch."""
        return len(self.keys) - self.view.grid[0] * self.view.grid[1]


def view_of(capture: Any) -> View | None:
    """The picture as it went in and the patches that stand along the keys; None: none do."""
    keys = capture if capture.keys is None else capture.keys
    if capture.image is None or keys.grid is None:
        return None
    return View(capture.image, keys.grid, keys.patch)


def middle(capture: Any, view: View) -> int:
    """The query to begin with: the first of the model's own, else the patch in the middle."""
    if capture.keys is not None or capture.n_keys > view.grid[0] * view.grid[1]:
        return 0
    rows, columns = view.grid
    return rows // 2 * columns + columns // 2


def seen(capture: Any, view: View, layer: int, head: int, query: int) -> Seen:
    """One row of one head's map, exactly, with the places of its keys."""
    row = slice(query, query + 1)
    rows, columns = view.grid
    own = capture.n_keys - rows * columns
    same = capture.keys is None  # the patches ask each other
    word = "norm" if getattr(capture, "scale", "weight") == "magnitude" else "weight"
    return Seen(
        view,
        capture.tokens[query],
        tuple(capture.key_tokens),
        capture.weights(layer, head, rows=row)[0],
        capture.blocked(layer, rows=row)[0],
        _near(capture, layer, view.grid, own) if same else None,
        query - own if same and query >= own else None,
        "cell" if capture.signed else word,
        capture.signed,
    )


def _near(
    capture: Any, layer: int, grid: tuple[int, int], own: int
) -> Bool[np.ndarray, "2 rows columns"] | None:
    rows, columns = grid
    near = np.ones((2, rows, columns), bool)
    along = np.arange(columns)
    for row in range(rows):
        first = own + row * columns
        span = slice(first, min(first + 2 * columns, capture.n_keys))
        open_ = ~capture.blocked(layer, rows=slice(first, first + columns), cols=span)
        near[0, row, :-1] = open_[along[:-1], along[1:]]
        if row + 1 < rows:
            near[1, row] = open_[along, columns + along]
    return None if near.all() else near


def patches_of(one: Seen, *, dark: bool = False) -> Spec:
    """The picture in its patches, thicker lines between windows, the query's patch outlined."""
    return patches_chart(one.view, one.near, asking=one.asking, dark=dark)


def weights_of(one: Seen, *, dark: bool = False) -> Spec:
    """The query's weights, a square for each patch; what lies outside its window is hatched."""
    own = one.n_own
    return weights_chart(
        one.view,
        one.weights[own:],
        one.hidden[own:],
        one.keys[own:],
        asking=one.asking,
        word=one.word,
        signed=one.signed,
        dark=dark,
    )


def in_words(one: Seen, layer: int, head: int) -> str:
    """Where the query's largest weight on a patch lies, and what went to no patch."""
    own = one.n_own
    patches = one.weights[own:]
    place = int(np.abs(patches).argmax())
    rows, columns = one.view.grid
    rest = [
        f"{name} {float(weight):.4f}"
        for name, weight in zip(one.keys[:own], one.weights[:own], strict=True)
    ]
    by = " by size" if one.signed else ""
    beside = f"; the rest is on {', '.join(rest)}" if rest else ""
    return (
        f"{one.query}, head {head} of layer {layer}: the largest {one.word}{by} on a patch, "
        f"{float(patches[place]):.4f}, is on {one.keys[own + place]} (row and column, counted "
        f"from 0). {rows} × {columns} patches of {one.view.patch} × {one.view.patch} pixels; "
        f"their {one.word}s add up to {float(patches.sum()):.3g}{beside}."
    )

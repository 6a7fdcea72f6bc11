"""Weights laid over a picture: the tensor's own numbers, in the right places."""

from __future__ import annotations

import base64
from io import BytesIO

import altair
import numpy as np
import pytest
from PIL import Image

import attnviz as av
from attnviz.figures.picture import (
    View,
    in_words,
    patches_of_picture,
    rolled_picture,
    weights_over_picture,
)
from attnviz.pictures import shapes
from attnviz.variants.shifted_window import same_window

PIXELS = shapes(1, 96)[:90]  # a row of patches is cut short, and left out


def run(name: str, **choices: object) -> tuple[av.Trace, View]:
    x = av.image_inputs(PIXELS, patch=16, d_model=16)
    assert x.grid is not None
    return av.run(name, x, **choices), View(PIXELS, x.grid, 16)


def pixels(spec: dict) -> np.ndarray:
    (picture,) = spec["datasets"]["picture"]
    data = base64.b64decode(picture["url"].partition(",")[2])
    return np.asarray(Image.open(BytesIO(data)))


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("name", ["shifted_window", "object_query", "linear", "multi_head"])
def test_every_square_is_a_number_of_the_map(name: str, dark: bool) -> None:
    trace, view = run(name)
    query = len(trace.query_tokens) - 2
    spec = weights_over_picture(trace, view, head=1, query=query, dark=dark)
    altair.Chart.from_dict(spec)
    row = trace.weights[0, 1, query]
    shown = {(square["y"], square["x"]): square["weight"] for square in spec["datasets"]["squares"]}
    hidden = {(mark["y"], mark["x"]) for mark in spec["datasets"]["hatch"]}
    for place in range(30):
        at = divmod(place, 6)
        assert (at in shown) != (at in hidden)
        assert shown.get(at, 0.0) == float(row[place])
    assert (len(hidden) > 0) == (name in ("shifted_window", "linear"))
    assert len(spec["datasets"]["asking"]) == (name != "object_query")
    assert f"{float(row.abs().max()):.4f}" in in_words(trace, view, head=1, query=query).replace(
        "-", ""
    )


@pytest.mark.parametrize("name", ["shifted_window", "object_query", "linear"])
def test_another_query_changes_data_alone(name: str) -> None:
    """The browser then swaps rows, and does not build the chart anew (figures/vega.py)."""
    trace, view = run(name)
    specs = [weights_over_picture(trace, view, head=0, query=query) for query in (2, 4)]
    assert specs[0] != specs[1]
    bare = [{word: value for word, value in spec.items() if word != "datasets"} for spec in specs]
    assert bare[0] == bare[1]
    for spec, query in zip(specs, (2, 4), strict=True):
        most = float(trace.weights[0, 0, query].abs().max())
        low, high = (row["weight"] for row in spec["datasets"]["ends"])
        assert (low, high) == (-most if name == "linear" else 0.0, most)


def crossed(spec: dict, one: tuple[int, int], other: tuple[int, int], *sets: str) -> bool:
    """Does a thick line of the chart separate two neighbours?"""
    across = one[0] == other[0]
    edge, along = (other[1], one[0]) if across else (other[0], one[1])
    place, span = ("x", "y") if across else ("y", "x")
    return any(
        line[place] == line[f"{place}2"] == edge and line[span] <= along < line[f"{span}2"]
        for word in sets
        for line in spec["datasets"][word]
    )


@pytest.mark.parametrize("shift", ["none", "half"])
@pytest.mark.parametrize("window", [2, 3, 4])
def test_windows_are_lined_where_patches_do_not_meet(window: int, shift: str) -> None:
    trace, view = run("shifted_window", window=window, shift=shift)
    spec = patches_of_picture(trace, view, query=3)
    altair.Chart.from_dict(spec)
    assert np.array_equal(pixels(spec), PIXELS[:80])
    near = same_window(view.grid, window, shift == "half")
    for place in range(30):
        row, column = divmod(place, 6)
        for other in ((row, column + 1), (row + 1, column)):
            if other[0] < 5 and other[1] < 6:
                apart = not bool(near[place, other[0] * 6 + other[1]])
                assert crossed(spec, (row, column), other, "thick") == apart


@pytest.mark.parametrize("window", [2, 3, 4])
def test_the_rolled_picture_keeps_apart_what_only_rolling_joined(window: int) -> None:
    trace, view = run("shifted_window", window=window, shift="half")
    spec = rolled_picture(trace, view, query=0)
    assert spec is not None
    altair.Chart.from_dict(spec)
    rolled, shift = pixels(spec), window // 2
    rows, columns = (side // 16 for side in rolled.shape[:2])
    near = same_window(view.grid, window, True)

    def place(row: int, column: int) -> int | None:
        """The patch that was rolled there; None where there is only padding."""
        row, column = (row + shift) % rows, (column + shift) % columns
        return row * 6 + column if row < 5 and column < 6 else None

    for row in range(rows):
        for column in range(columns):
            patch = place(row, column)
            if patch is None:
                continue
            at = np.s_[row * 16 : row * 16 + 16, column * 16 : column * 16 + 16]
            y, x = (16 * number for number in divmod(patch, 6))
            assert np.array_equal(rolled[at], PIXELS[y : y + 16, x : x + 16])
            for other in ((row, column + 1), (row + 1, column)):
                if other[0] < rows and other[1] < columns and place(*other) is not None:
                    apart = not bool(near[patch, place(*other)])
                    assert crossed(spec, (row, column), other, "thick", "cyclic") == apart
    assert rolled_picture(*run("shifted_window", window=window), query=0) is None

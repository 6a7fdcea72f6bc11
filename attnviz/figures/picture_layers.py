"""What charts of a picture are made of: the picture itself, squares, lines, and their frame."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import numpy as np
from jaxtyping import Bool
from PIL import Image

from attnviz.figures import palette
from attnviz.figures.vega import Spec, legible, number

WIDTH = 320
"""CSS pixels of a drawn picture: three beside each other, or one on a phone."""
LINE = "#5c5c5c"
_MARK = palette.ACCENTS["highlight"][0]


@dataclass(frozen=True, eq=False)
class View:
    """The pixels (height, width, 3) that were cut into rows x columns patches."""

    pixels: np.ndarray
    grid: tuple[int, int]
    patch: int

    @property
    def cut(self) -> np.ndarray:
        """What the patches hold; what was left over is gone."""
        rows, columns = self.grid
        return self.pixels[: rows * self.patch, : columns * self.patch]


def sides_drawn(
    drawn: Bool[np.ndarray, "2 rows columns"], grid: tuple[int, int]
) -> list[dict[str, float]]:
    """The right and lower sides of patches, joined to one line where they follow each other."""
    lines = []
    for column in range(grid[1] - 1):
        for top, end in _runs(drawn[0, :, column]):
            lines.append({"x": column + 1, "x2": column + 1, "y": top, "y2": end})
    for row in range(grid[0] - 1):
        for left, end in _runs(drawn[1, row]):
            lines.append({"x": left, "x2": end, "y": row + 1, "y2": row + 1})
    return lines


def _runs(marked: Bool[np.ndarray, " places"]) -> list[tuple[int, int]]:
    edges = np.flatnonzero(np.diff(np.concatenate([[False], marked, [False]])))
    return [(int(start), int(end)) for start, end in edges.reshape(-1, 2)]


def square(view: View, patch: int) -> dict[str, Any]:
    return at(*divmod(patch, view.grid[1]))


def at(row: int, column: int) -> dict[str, Any]:
    return {"x": column, "y": row, "x2": column + 1, "y2": row + 1}


def sides() -> Spec:
    return {"x": number("x"), "y": number("y"), "x2": {"field": "x2"}, "y2": {"field": "y2"}}


def picture_layer() -> list[Spec]:
    drawn = {"type": "image", "aspect": False}
    return [
        {
            "data": {"name": "picture"},
            "mark": drawn,
            "encoding": sides() | {"url": {"field": "url", "type": "nominal"}},
        }
    ]


def ruled(data: str, width: float, dash: list[int] | None = None) -> Spec:
    """Light under dark, so that it is seen on any picture."""
    lines = [
        {"type": "rule", "stroke": "#ffffff", "strokeWidth": width + 1.5, "opacity": 0.8},
        {"type": "rule", "stroke": "#111111", "strokeWidth": width},
    ]
    if dash:
        lines[1]["strokeDash"] = dash
    return {"data": {"name": data}, "encoding": sides(), "layer": [{"mark": m} for m in lines]}


def outlined() -> list[Spec]:
    mark = {"type": "rect", "filled": False, "stroke": _MARK, "strokeWidth": 4}
    return [{"data": {"name": "asking"}, "mark": mark, "encoding": sides()}]


def picture_data(pixels: np.ndarray, patch: int) -> list[dict[str, Any]]:
    """The pixels where their patches stand; at an edge they may fill a part of one."""
    out = BytesIO()
    Image.fromarray(pixels).save(out, "PNG")
    url = "data:image/png;base64," + base64.b64encode(out.getvalue()).decode()
    height, width = pixels.shape[:2]
    return [{"url": url, "x": 0, "y": 0, "x2": width / patch, "y2": height / patch}]


def picture_chart(
    title: str, layers: list[Spec], data: dict[str, list], grid: tuple[int, int], dark: bool
) -> Spec:
    rows, columns = grid
    bare = {"axis": None}
    for layer in layers:
        encoding = layer["encoding"]
        encoding["x"] |= bare | {"scale": {"domain": [0, columns], "nice": False}}
        encoding["y"] |= bare | {"scale": {"domain": [0, rows], "nice": False, "reverse": True}}
    side = WIDTH / max(grid)
    chart = {
        "title": title,
        "autosize": "pad",  # what stands round the picture takes nothing of it: patches are square
        "width": round(columns * side),
        "height": round(rows * side),
        "layer": layers,
        "datasets": data,
    }
    return legible(chart, dark=dark)

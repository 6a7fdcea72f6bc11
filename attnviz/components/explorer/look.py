"""How a figure is drawn, as a browser or a link says it: what is not understood is the default."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, get_args

from attnviz.figures import palette
from attnviz.figures.figure import (
    MOST_OTHERS,
    ColourScale,
    Figure,
    Hidden,
    Lay,
    Look,
    Order,
    Reading,
    Show,
)

_LONGEST = 100  # characters of a name
_MOST_ZOOM = 1e6  # the browser holds it to what the map has


def look_of(said: Any) -> Look:
    """The look in these words (of JSON, or of a link), each part alone falling to its default."""
    if not isinstance(said, Mapping):
        return Look()
    return Look(
        show=_one_of(said.get("show"), Show, "matrix"),
        scale=_one_of(said.get("scale"), ColourScale, None),
        least=_share(said.get("least")),
        palette=_one_of(said.get("palette"), palette.SEQUENTIAL[1:], ""),
        metric=_name(said.get("metric")),
        order=_one_of(said.get("order"), Order, ""),
        cut=_finite(said.get("cut")),
        others=tuple(dict.fromkeys(filter(None, map(_name, _list(said.get("others"))))))[
            :MOST_OTHERS
        ],
        row=said.get("row") is True,
        table=said.get("table") is True,
        lines=_one_of(said.get("lines"), Lay, "columns"),
        reading=_one_of(said.get("reading"), Reading, "from"),
        hide=tuple(part for part in get_args(Hidden) if part in _list(said.get("hide"))),
        at=_place(said.get("at")),
        zoom=_window(said.get("zoom")),
        zoomed=_name(said.get("zoomed")),
    )


def drawable(look: Look, figure: Figure) -> Look:
    """The same look without a metric, maps or a step that this figure does not have."""
    metrics = figure.grid.metrics if figure.grid else {}
    return replace(
        look,
        metric=look.metric if look.metric in metrics else "",
        order=look.order if look.metric in metrics else "",
        cut=look.cut if look.metric in metrics else None,
        others=tuple(other for other in look.others if _has(figure, other)),
        at=look.at if look.at in range(figure.n_steps) else None,
        zoomed=look.zoomed if look.zoomed in [panel.id for panel in figure.panels] else "",
    )


def _has(figure: Figure, other: str) -> bool:
    if figure.grid is None:
        return any(panel.id == other for panel in figure.panels)
    layer, _, head = other.partition(".")
    heads = range(figure.grid.thumbnails.shape[1])
    return layer in map(str, figure.grid.layers) and head in map(str, heads)


def _one_of(word: Any, kinds: Any, otherwise: Any) -> Any:
    known = kinds if isinstance(kinds, tuple) else get_args(kinds)
    return word if isinstance(word, str) and word in known else otherwise


def _share(number: Any) -> float:
    finite = _finite(number)
    return finite if finite is not None and 0 <= finite <= 1 else 0.0


def _finite(number: Any) -> float | None:
    if type(number) not in (int, float) or not math.isfinite(number):
        return None
    return float(number)


def _place(number: Any) -> int | None:
    return number if type(number) is int and number >= 0 else None


def _window(numbers: Any) -> tuple[float, float, float] | None:
    given = _list(numbers)
    if len(given) != 3 or any(type(number) not in (int, float) for number in given):
        return None
    zoom, row, col = map(float, given)
    if not (1 < zoom <= _MOST_ZOOM and 0 <= row <= _MOST_ZOOM and 0 <= col <= _MOST_ZOOM):
        return None  # NaN is in no interval
    return zoom, row, col


def _name(word: Any) -> str:
    return word if isinstance(word, str) and len(word) <= _LONGEST else ""


def _list(value: Any) -> list[Any]:
    return list(value)[:50] if isinstance(value, list | tuple) else []

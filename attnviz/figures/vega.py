"""Charts as plain Vega-Lite, in which a control changes the data and leaves the rest alone.

Building and checking a chart through Altair's classes takes 100 to 300 ms at every step of a
slider; tests have Altair check these specs instead. And the browser swaps the rows of a named
dataset in place, while any other change of a spec makes it build the chart anew (another 200 ms):
so what a control moves (a marker, a bar) is data, and titles and axes keep still.
"""

from __future__ import annotations

from typing import Any

Spec = dict[str, Any]

SOFT = ("#4b5563", "#b4bcc7")
INK = ("#1d2530", "#e6e9ee")
"""Words and numbers of a chart (on a light page, on a dark page)."""


def number(field: str, title: str | None = None, **options: Any) -> Spec:
    """A channel that shows a number."""
    return {"field": field, "type": "quantitative", "title": title} | options


def name(field: str, title: str | None = None, **options: Any) -> Spec:
    """A channel that tells things apart by name, in the order of the data."""
    return {"field": field, "type": "nominal", "title": title} | options


def tip(field: str, title: str, format: str | None = None) -> Spec:
    """One line of a tooltip; a format makes it a number."""
    return number(field, title, format=format) if format else name(field, title)


def legible(spec: Spec, *, dark: bool) -> Spec:
    """The chart with its words in the page's own ink: the default grey is faint on a projector."""
    ink, soft = INK[dark], SOFT[dark]
    config = {
        "axis": {"labelColor": soft, "titleColor": ink, "labelFontSize": 12, "titleFontSize": 13},
        "title": {"color": ink, "fontSize": 15},
        "legend": {"labelColor": ink, "labelFontSize": 13, "titleColor": ink, "titleFontSize": 13},
    }
    return spec | {"config": config}

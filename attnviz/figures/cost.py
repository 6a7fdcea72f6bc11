"""Measured cost -> time and peak memory against length, log-log, with the fitted exponents."""

from __future__ import annotations

from math import ceil, floor, log10
from typing import TYPE_CHECKING

from attnviz.figures import palette
from attnviz.figures.vega import Spec, legible, name, number, tip

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = {
    "time": ("milliseconds", "Time", "milliseconds (log scale)"),
    "memory": ("mebibytes", "Peak memory", "MiB (log scale)"),
}
MOST = len(palette.LINES[0])
"""Lines that have a colour of their own."""


def cost_chart(
    table: pd.DataFrame, exponents: pd.DataFrame, what: str, *, dark: bool = False
) -> Spec:
    """One line a form; what is "time" or "memory". The legend tells each fitted exponent."""
    column, title, unit = COLUMNS[what]
    slopes = dict(zip(exponents["form"], exponents[what], strict=True))
    table = table.assign(
        milliseconds=table["seconds"] * 1e3,
        mebibytes=table["bytes"] / 2**20,
        label=[
            f"{words}: T^{slopes[form]:.2f}"
            for form, words in zip(table["form"], table["title"], strict=True)
        ],
    )
    labels = list(dict.fromkeys(table["label"]))
    log = {"type": "log", "nice": False}
    x = number(
        "length",
        "tokens T (log scale)",
        scale=log | {"base": 2},
        axis={"values": sorted(set(table["length"].tolist())), "format": ",d", "grid": False},
    )
    powers = [log10(value) for value in table[column].tolist()]
    decades = [10.0**power for power in range(floor(min(powers)), ceil(max(powers)) + 1)]
    y_scale = log | {"domain": [decades[0], decades[-1]]}
    ticks = {"format": "~g", "values": decades}
    color = name(
        "label",
        scale={"domain": labels, "range": list(palette.LINES[dark][: len(labels)])},
        legend={"orient": "bottom", "columns": 1, "labelLimit": 0},
    )
    told = [
        tip("title", "form"),
        tip("length", "tokens", ",d"),
        tip("milliseconds", "milliseconds", ".4g"),
        tip("mebibytes", "peak MiB", ".4g"),
        tip("repeats", "repeats", "d"),
    ]
    chart = {
        "title": title,
        "height": 380 + 30 * len(labels),
        "data": {"name": "points"},
        "mark": {"type": "line", "point": {"size": 45}, "strokeWidth": 2},
        "encoding": {
            "x": x,
            "y": number(column, unit, scale=y_scale, axis=ticks),
            "color": color,
            "tooltip": told,
        },
        "datasets": {"points": table.to_dict(orient="records")},
    }
    return legible(chart, dark=dark)

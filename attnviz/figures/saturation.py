"""What division by sqrt(d_k) is for, as curves; and a soft dictionary's shares as bars."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from attnviz.figures import palette
from attnviz.figures.vega import INK, Spec, legible, name, number, tip

SERIES = {True: "divided by √d_k", False: "not divided"}
HEIGHT = 330  # of the whole chart, legend and titles included


@dataclass(frozen=True)
class Curve:
    """One of the four numbers, as it is drawn."""

    column: str
    title: str
    unit: str
    log: bool
    alt: str


CURVES = (
    Curve(
        "variance",
        "Spread of the scores",
        "variance (log scale)",
        True,
        "Variance of the scores against d_k: it grows like d_k, and stays near 1 when divided.",
    ),
    Curve(
        "largest",
        "Softmax saturates",
        "largest weight of a row, mean",
        False,
        "Mean largest weight against d_k: it rises towards 1 unless the scores are divided.",
    ),
    Curve(
        "entropy",
        "Rows lose their spread",
        "entropy of a row in nats, mean",
        False,
        "Mean row entropy against d_k: it falls towards 0 unless the scores are divided.",
    ),
    Curve(
        "gradient",
        "The gradient vanishes",
        "‖∂weights/∂scores‖, mean",
        False,
        "Mean norm of the gradient of softmax against d_k: it falls unless scores are divided.",
    ),
)


def saturation_chart(curves: pd.DataFrame, curve: Curve, d_k: int, *, dark: bool = False) -> Spec:
    """One number against d_k, with and without the division, the page's own d_k marked.

    curves is what metrics.softmax.curves returns.
    """
    calm, strong = (palette.ACCENTS[word][dark] for word in ("plain", "highlight"))
    table = curves.assign(series=[SERIES[scaled] for scaled in curves["scaled"]])
    steps = sorted(table["d_k"].unique().tolist())
    x = number(
        "d_k",
        "d_k (log scale)",
        scale={"type": "log", "base": 2, "domain": [steps[0], steps[-1]], "nice": False},
        axis={"values": steps[::2], "format": "d", "grid": False},
    )
    y = number(
        curve.column,
        curve.unit,
        scale={"type": "log", "base": 10} if curve.log else {"zero": True},
        axis={"values": [1, 10, 100, 1000], "format": ",d"} if curve.log else {"tickCount": 5},
    )
    names = list(SERIES.values())
    color = {
        "scale": {"domain": names, "range": [calm, strong]},
        "legend": {"orient": "top", "labelLimit": 0, "symbolType": "stroke"},
    }
    dash = {"scale": {"domain": names, "range": [[1, 0], [6, 3]]}, "legend": None}
    tooltip = [
        tip("d_k", "d_k", "d"),
        tip("series", "scores"),
        tip(curve.column, curve.unit, ".3f"),
    ]
    here = {"data": {"name": "here"}}
    lines = {"type": "line", "point": {"size": 40}, "strokeWidth": 2.5}
    label = {"align": "left", "dx": 4, "dy": 6, "baseline": "top", "color": calm, "fontSize": 12}
    chart = {
        "title": curve.title,
        "height": HEIGHT,
        "layer": [
            here
            | {
                "mark": {"type": "rule", "color": calm, "strokeDash": [2, 3]},
                "encoding": {"x": x},
            },
            here
            | {
                "mark": {"type": "text"} | label,
                "encoding": {"x": x, "y": {"value": 0}, "text": name("label")},
            },
            {
                "data": {"name": "curves"},
                "mark": lines,
                "encoding": {
                    "x": x,
                    "y": y,
                    "color": name("series", **color),
                    "strokeDash": name("series", **dash),
                    "tooltip": tooltip,
                },
            },
        ],
        "datasets": {
            "here": [{"d_k": d_k, "label": f"d_k = {d_k}"}],
            "curves": table.loc[:, ["d_k", "series", curve.column]].to_dict(orient="records"),
        },
    }
    return legible(chart, dark=dark)


def shares_chart(
    words: list[str],
    values: list[float],
    fits: list[float],
    weights: list[float],
    *,
    dark: bool = False,
) -> Spec:
    """A soft dictionary's entries: how much of the answer each one is."""
    names = [f"{word} → {value:g}" for word, value in zip(words, values, strict=True)]
    place = {
        "x": number(
            "weight",
            "weight (share of the answer)",
            scale={"domain": [0, 1.12]},
            axis={"values": [0, 0.25, 0.5, 0.75, 1], "format": ".2f"},
        ),
        "y": name("entry", "entry (key → value)", sort=None),
    }
    tooltip = [
        tip("entry", "entry"),
        tip("fit", "fit (cosine)", ".3f"),
        tip("weight", "weight", ".4f"),
    ]
    figures = {"type": "text", "align": "left", "dx": 5, "color": INK[dark], "fontSize": 13}
    chart = {
        "title": "How much of the answer each entry is",
        "height": 260,
        "data": {"name": "entries"},
        "layer": [
            {
                "mark": {"type": "bar", "color": palette.ACCENTS["key"][dark]},
                "encoding": place | {"tooltip": tooltip},
            },
            {"mark": figures, "encoding": place | {"text": number("weight", format=".3f")}},
        ],
        "datasets": {
            "entries": [
                {"entry": entry, "fit": fit, "weight": weight}
                for entry, fit, weight in zip(names, fits, weights, strict=True)
            ]
        },
    }
    return legible(chart, dark=dark)

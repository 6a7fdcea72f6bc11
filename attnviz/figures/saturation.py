"""What division by sqrt(d_k) is for, as curves; and a soft dictionary's shares as bars."""

from __future__ import annotations

from dataclasses import dataclass

import altair as alt
import pandas as pd

from attnviz.figures import palette

SERIES = {True: "divided by √d_k", False: "not divided"}
INK, HIGHLIGHT = palette.ACCENTS["plain"][0], palette.ACCENTS["highlight"][0]
HEIGHT = 240


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


def saturation_chart(curves: pd.DataFrame, curve: Curve, d_k: int) -> alt.LayerChart:
    """One number against d_k, with and without the division, the page's own d_k marked.

    curves is what metrics.softmax.curves returns.
    """
    table = curves.assign(series=[SERIES[scaled] for scaled in curves["scaled"]])
    steps = sorted(table["d_k"].unique().tolist())
    x = alt.X(
        "d_k:Q",
        title="d_k (log scale)",
        scale=alt.Scale(type="log", base=2, domain=[steps[0], steps[-1]], nice=False),
        axis=alt.Axis(values=steps[::2], format="d", grid=False),
    )
    scale = alt.Scale(type="log", base=10) if curve.log else alt.Scale(zero=True)
    y = alt.Y(f"{curve.column}:Q", title=curve.unit, scale=scale)
    names = list(SERIES.values())
    lines = (
        alt.Chart(table)
        .mark_line(point={"size": 40}, strokeWidth=2.5)
        .encode(
            x,
            y,
            color=alt.Color(
                "series:N",
                title="Scores",
                scale=alt.Scale(domain=names, range=[INK, HIGHLIGHT]),
                legend=alt.Legend(orient="bottom", labelLimit=0),
            ),
            strokeDash=alt.StrokeDash(
                "series:N", scale=alt.Scale(domain=names, range=[[1, 0], [6, 3]]), legend=None
            ),
            tooltip=[
                alt.Tooltip("d_k:Q", format="d"),
                alt.Tooltip("series:N", title="scores"),
                alt.Tooltip(f"{curve.column}:Q", title=curve.unit, format=".3f"),
            ],
        )
    )
    here = pd.DataFrame({"d_k": [d_k], "label": [f"d_k = {d_k}"]})
    rule = alt.Chart(here).mark_rule(color=INK, strokeDash=[2, 3]).encode(x)
    label = (
        alt.Chart(here)
        .mark_text(align="left", dx=4, dy=6, baseline="top", color=INK, fontSize=12)
        .encode(x, y=alt.value(0), text="label:N")
    )
    return alt.LayerChart(layer=[rule, label, lines], title=curve.title, height=HEIGHT)


def shares_chart(
    words: list[str], values: list[float], fits: list[float], weights: list[float]
) -> alt.LayerChart:
    """A soft dictionary's entries: how much of the answer each one is."""
    table = pd.DataFrame(
        {
            "entry": [f"{word} → {value:g}" for word, value in zip(words, values, strict=True)],
            "fit": fits,
            "weight": weights,
        }
    )
    base = alt.Chart(table).encode(
        alt.Y("entry:N", sort=None, title="entry (key → value)"),
        alt.X("weight:Q", title="weight (share of the answer)", scale=alt.Scale(domain=[0, 1.12])),
        tooltip=[
            "entry:N",
            alt.Tooltip("fit:Q", title="fit (cosine)", format=".3f"),
            alt.Tooltip("weight:Q", format=".4f"),
        ],
    )
    bars = base.mark_bar(color=palette.ACCENTS["key"][0])
    text = base.mark_text(align="left", dx=5, color=INK, fontSize=13).encode(
        text=alt.Text("weight:Q", format=".3f")
    )
    return alt.LayerChart(
        layer=[bars, text], title="How much of the answer each entry is", height=210
    )

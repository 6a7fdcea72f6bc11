"""What division by sqrt(d_k) is for, as curves; and a soft dictionary's shares as bars."""

from __future__ import annotations

from dataclasses import dataclass

import altair as alt
import pandas as pd

from attnviz.figures import palette

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


def saturation_chart(
    curves: pd.DataFrame, curve: Curve, d_k: int, *, dark: bool = False
) -> alt.LayerChart:
    """One number against d_k, with and without the division, the page's own d_k marked.

    curves is what metrics.softmax.curves returns.
    """
    calm, strong = (palette.ACCENTS[name][dark] for name in ("plain", "highlight"))
    table = curves.assign(series=[SERIES[scaled] for scaled in curves["scaled"]])
    steps = sorted(table["d_k"].unique().tolist())
    x = alt.X(
        "d_k:Q",
        title="d_k (log scale)",
        scale=alt.Scale(type="log", base=2, domain=[steps[0], steps[-1]], nice=False),
        axis=alt.Axis(values=steps[::2], format="d", grid=False),
    )
    scale = alt.Scale(type="log", base=10) if curve.log else alt.Scale(zero=True)
    axis = alt.Axis(values=[1, 10, 100, 1000], format=",d") if curve.log else alt.Axis(tickCount=5)
    y = alt.Y(f"{curve.column}:Q", title=curve.unit, scale=scale, axis=axis)
    names = list(SERIES.values())
    lines = (
        alt.Chart(table)
        .mark_line(point={"size": 40}, strokeWidth=2.5)
        .encode(
            x,
            y,
            color=alt.Color(
                "series:N",
                title=None,
                scale=alt.Scale(domain=names, range=[calm, strong]),
                legend=alt.Legend(orient="top", labelLimit=0, symbolType="stroke"),
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
    rule = alt.Chart(here).mark_rule(color=calm, strokeDash=[2, 3]).encode(x)
    label = (
        alt.Chart(here)
        .mark_text(align="left", dx=4, dy=6, baseline="top", color=calm, fontSize=12)
        .encode(x, y=alt.value(0), text="label:N")
    )
    return _legible(alt.LayerChart(layer=[rule, label, lines], title=curve.title), HEIGHT, dark)


def _legible(chart: alt.LayerChart, height: int, dark: bool) -> alt.LayerChart:
    """Axis words in the page's own ink: the default grey is too faint for a projector."""
    ink, soft = ("#e6e9ee", "#b4bcc7") if dark else ("#1d2530", "#4b5563")
    return (
        chart.properties(height=height)
        .configure_axis(labelColor=soft, titleColor=ink, labelFontSize=12, titleFontSize=13)
        .configure_title(color=ink, fontSize=15)
        .configure_legend(labelColor=ink, labelFontSize=13)
    )


def shares_chart(
    words: list[str],
    values: list[float],
    fits: list[float],
    weights: list[float],
    *,
    dark: bool = False,
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
        alt.X(
            "weight:Q",
            title="weight (share of the answer)",
            scale=alt.Scale(domain=[0, 1.12]),
            axis=alt.Axis(values=[0, 0.25, 0.5, 0.75, 1], format=".2f"),
        ),
        tooltip=[
            "entry:N",
            alt.Tooltip("fit:Q", title="fit (cosine)", format=".3f"),
            alt.Tooltip("weight:Q", format=".4f"),
        ],
    )
    ink = "#e6e9ee" if dark else "#1d2530"
    bars = base.mark_bar(color=palette.ACCENTS["key"][dark])
    text = base.mark_text(align="left", dx=5, color=ink, fontSize=13).encode(
        text=alt.Text("weight:Q", format=".3f")
    )
    title = "How much of the answer each entry is"
    return _legible(alt.LayerChart(layer=[bars, text], title=title), 260, dark)

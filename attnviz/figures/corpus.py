"""Heads over many texts -> the first twelve with their errors, a grid of all, sentences."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np

from attnviz.figures import palette
from attnviz.figures.capture_words import METRICS
from attnviz.figures.vega import Spec, legible, name, number, tip

if TYPE_CHECKING:
    import pandas as pd

TITLES = {
    "induction": "Induction score",
    "duplicate": "Duplicate-token score",
    **METRICS,
}
REMOVALS = {
    "loss_change": "change of the loss without the head (nats a token)",
    "moved": "how far the output moves without the head (relative)",
}
SHOWN = 12
MISSING = {
    "induction": "no token comes again with another between",
    "duplicate": "no token comes again",
    "previous": "a text of one token has no previous one",
    "loss_change": "a text of one token predicts none of its own",
}
"""Why no text may have a number; every text has the others."""


def of_metric(table: pd.DataFrame, metric: str) -> pd.DataFrame:
    """One metric's rows, the largest mean first; of a removal the largest change either way."""
    own = table.loc[table["metric"] == metric]
    size = own["mean"].abs() if metric in REMOVALS else own["mean"]
    order = size.sort_values(ascending=False, kind="stable").index
    return own.loc[order].reset_index(drop=True)


def bars_chart(table: pd.DataFrame, metric: str, *, dark: bool = False) -> Spec:
    """The twelve heads that of_metric has first; a line from one standard error below to above."""
    title = (TITLES | REMOVALS)[metric]
    rows = [
        row | {"low": row["mean"] - (row["se"] or 0.0), "high": row["mean"] + (row["se"] or 0.0)}
        for row in _rows(of_metric(table, metric).dropna(subset=["mean"]).head(SHOWN))
    ]
    place = name("head", "layer.head", sort=None, axis={"labelFontSize": 13, "labelOverlap": False})
    tips = [tip("head", "layer.head"), tip("mean", "mean", ".4f")]
    tips += [tip("sd", "standard deviation", ".4f"), tip("se", "standard error", ".4f")]
    tips += [tip("n", "texts", "d")]
    chart = {
        "height": 34 * SHOWN,
        "padding": {"left": 5, "right": 18, "top": 5, "bottom": 5},
        "data": {"name": "bars"},
        "encoding": {"y": place, "tooltip": tips},
        "layer": [
            {
                "mark": {"type": "bar", "color": palette.ACCENTS["query"][dark], "opacity": 0.75},
                "encoding": {"x": number("mean", title, axis={"tickCount": 5})},
            },
            {
                "mark": {"type": "rule", "color": palette.ACCENTS["plain"][dark], "size": 2.5},
                "encoding": {"x": number("low", title), "x2": {"field": "high"}},
            },
        ],
        "datasets": {"bars": rows},
    }
    return legible(chart, dark=dark)


def grid_chart(table: pd.DataFrame, metric: str, *, dark: bool = False) -> Spec:
    """All heads, layers down and heads across; the colour is the mean over the texts."""
    own = of_metric(table, metric).sort_values(["layer", "head"])
    signed = metric == "loss_change"
    reach = max(float(np.abs(own["mean"].fillna(0.0).to_numpy()).max()), 1e-6)
    colours = palette.diverging(dark)[::-1] if signed else palette.sequential(dark)
    place = {"labelAngle": 0, "tickSize": 0, "domain": False}
    chart = {
        "height": max(34 * SHOWN, 14 * own["layer"].nunique() + 60),
        "data": {"name": "heads"},
        "mark": {"type": "rect", "stroke": palette.ACCENTS["plain"][dark], "strokeWidth": 0.4},
        "encoding": {
            "x": {"field": "number", "type": "ordinal", "title": "head", "axis": place},
            "y": {"field": "layer", "type": "ordinal", "title": "layer", "axis": place},
            "color": number(
                "mean",
                None,
                scale={
                    "domain": [-reach if signed else 0, reach],
                    "range": [palette_hex(row) for row in colours[:: 255 // 10]],
                    "interpolate": "rgb",
                },
                legend={"orient": "bottom", "format": ".2~g", "gradientLength": 200},
            ),
            "tooltip": [
                tip("head", "layer.head"),
                tip("mean", "mean", ".4f"),
                tip("se", "standard error", ".4f"),
            ],
        },
        "datasets": {"heads": _rows(own)},
    }
    return legible(chart, dark=dark)


def palette_hex(colour: Any) -> str:
    return "#" + "".join(f"{int(channel):02x}" for channel in colour)


def counted(n: int) -> str:
    """ "1 text", "2 texts"."""
    return f"{n} text" if n == 1 else f"{n} texts"


def measured(table: pd.DataFrame, metric: str) -> bool:
    """Whether any text has this number of any head."""
    return bool((table.loc[table["metric"] == metric, "n"] > 0).any())


def sentence(table: pd.DataFrame, metric: str, n_texts: int) -> str:
    """The first head in words, with its error and the number of texts that it is over."""
    best = of_metric(table, metric).iloc[0]
    if best["n"] == 0:
        whose = "The one text has not" if n_texts == 1 else f"None of these {n_texts} texts has"
        return f"{whose} this number: {MISSING.get(metric, 'it is not defined there')}."
    removed, several = metric in REMOVALS, best["n"] > 1
    mean = f"{best['mean']:{'+' if metric == 'loss_change' else ''}.4f}"
    error = f" ± {best['se']:.4f}" if several else ""
    told = (
        f"{'Changes most without' if removed else 'Largest'}: layer {best['layer']:.0f}, head "
        f"{best['head']:.0f}, {mean}{error}, over {best['n']:.0f} of {counted(n_texts)}."
    )
    if not several:
        return f"{told} One text gives no standard error."
    return (
        f"{told} The error is the standard error of the mean, sd / √n; the unit is the text, "
        "not the token."
    )


def change_sentence(table: pd.DataFrame) -> str:
    """What measuring.change_over found, as a mean over the texts with its error.

    Of an encoder that is how far its output states moved. Texts without a number are counted.
    """
    writes = "change" in table
    values = table["change" if writes else "moved"].dropna().to_numpy()
    n, left_out = len(values), len(table) - len(values)
    if not n:
        return f"No loss on {counted(left_out)}: {MISSING['loss_change']}."
    error = f" ± {values.std(ddof=1) / n**0.5:.4f}" if n > 1 else ""
    over = f"the mean over {n} texts and its standard error" if n > 1 else "on one text"
    if not writes:
        return (
            f"Output states move by {values.mean():.4f}{error} of their length: {over}. The model "
            "predicts no next token, so that it has no loss."
        )
    rises = int(np.sum(values > 0))
    sign = f" It rises on {rises} of them." if n > 1 else ""
    out = f" Left out: {counted(left_out)} of one token, without a loss." if left_out else ""
    return f"Loss changes by {values.mean():+.4f}{error} nats a token: {over}.{sign}{out}"


def _rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    rows = table.to_dict(orient="records")
    several = len({row.get("group") for row in rows}) > 1
    for row in rows:
        which = f"{row['layer']}.{row['head']}"
        row |= {"number": row["head"], "head": f"{row['group']} {which}" if several else which}
        for word in ("mean", "sd", "se"):  # a chart knows no NaN
            row[word] = None if isnan(row[word]) else row[word]
    return [{str(word): value for word, value in row.items()} for row in rows]

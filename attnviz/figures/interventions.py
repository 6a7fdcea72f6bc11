"""What the removal of heads does -> a grid of all heads, the ones that matter, next tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from attnviz.figures import palette
from attnviz.figures.vega import Spec, legible, name, number, tip

if TYPE_CHECKING:
    import pandas as pd

    from attnviz.interventions.running import Intervention
    from attnviz.interventions.sweeping import Sweep

MEASURES = {
    "log_ratio": "change of ln p of the followed token",
    "loss_change": "change of the loss on the text (nats a token)",
}
SHOWN = 12


def grid_chart(sweep: Sweep, measure: str, *, dark: bool = False) -> Spec:
    """All heads, layers down and heads across; the colour is what removing one changes."""
    table = sweep.table()
    reach = max(float(np.abs(table[measure].to_numpy()).max()), 1e-6)
    colours = [_hex(row) for row in palette.diverging(dark)[:: 255 // 10]]
    if measure == "loss_change":
        colours = colours[::-1]  # purple: the head is needed, in both measures
    place = {"labelAngle": 0, "tickSize": 0, "domain": False}
    chart = {
        "height": max(340, 17 * len(sweep.layers) + 90),
        "data": {"name": "heads"},
        "mark": {"type": "rect", "stroke": palette.ACCENTS["plain"][dark], "strokeWidth": 0.4},
        "encoding": {
            "x": {"field": "head", "type": "ordinal", "title": "head", "axis": place},
            "y": {
                "field": "where",
                "type": "ordinal",
                "title": "layer",
                "axis": place,
                "sort": None,
            },
            "color": number(
                measure,
                None,
                scale={"domain": [-reach, reach], "range": colours, "interpolate": "rgb"},
                legend={"orient": "bottom", "format": ".2~g", "gradientLength": 260},
            ),
            "tooltip": [
                tip("where", "layer"),
                tip("head", "head", "d"),
                tip("probability", f"p of {sweep.token}", ".4f"),
                tip("log_ratio", MEASURES["log_ratio"], "+.4f"),
                tip("loss_change", MEASURES["loss_change"], "+.4f"),
            ],
        },
        "datasets": {"heads": _rows(table.sort_values(["layer", "head"]), sweep)},
    }
    return legible(chart, dark=dark)


def needed_chart(sweep: Sweep, measure: str, *, dark: bool = False) -> Spec:
    """The heads whose removal harms most, one bar each."""
    table = sweep.table().sort_values(measure, ascending=measure == "log_ratio").head(SHOWN)
    rows = [
        row | {"name": f"{row['where']}.{row['head']}", "value": row[measure]}
        for row in _rows(table, sweep)
    ]
    chart = {
        "height": 40 * SHOWN,
        "padding": {"left": 5, "right": 18, "top": 5, "bottom": 5},  # the last number's own half
        "data": {"name": "bars"},
        "mark": {"type": "bar", "color": palette.ACCENTS["query"][dark]},
        "encoding": {
            "y": name(
                "name", "layer.head", sort=None, axis={"labelFontSize": 13, "labelOverlap": False}
            ),
            "x": number(
                "value",
                MEASURES[measure],
                axis={"format": "+.2~g", "tickCount": 4},
            ),
            "tooltip": [
                tip("name", "layer.head"),
                tip("probability", f"p of {sweep.token}", ".4f"),
                tip("log_ratio", MEASURES["log_ratio"], "+.4f"),
                tip("loss_change", MEASURES["loss_change"], "+.4f"),
            ],
        },
        "datasets": {"bars": rows},
    }
    return legible(chart, dark=dark)


def moved_chart(table: pd.DataFrame, *, dark: bool = False) -> Spec:
    """Next tokens before and after, those that moved most, two bars each."""
    rows = [
        {"token": f"{place + 1}. {row['token']}", "run": run, "p": float(value)}
        for place, row in enumerate(table.to_dict(orient="records"))
        for run, value in (("as it is", row["before"]), ("changed", row["after"]))
    ]
    colours = [palette.ACCENTS["plain"][dark], palette.ACCENTS["query"][dark]]
    chart = {
        "height": 50 * len(table) + 60,
        "data": {"name": "bars"},
        "mark": {"type": "bar"},
        "encoding": {
            "y": name(
                "token",
                None,
                sort=None,
                axis={"labelFontSize": 13, "labelLimit": 220, "labelOverlap": False},
            ),
            "yOffset": name("run", None, sort=["as it is", "changed"]),
            "x": number("p", "probability of the next token", scale={"domainMin": 0}),
            "color": name(
                "run",
                None,
                scale={"domain": ["as it is", "changed"], "range": colours},
                legend={"orient": "top"},
            ),
            "tooltip": [tip("token", "token"), tip("run", "run"), tip("p", "probability", ".5f")],
        },
        "datasets": {"bars": rows},
    }
    return legible(chart, dark=dark)


def sweep_sentence(sweep: Sweep) -> str:
    """What the sweep found, in plain words; holds a token, so it is shown as plain text."""
    table = sweep.table()
    worst, best = table.iloc[0], table.iloc[-1]
    return (
        f"Next token {sweep.token!r}: probability {sweep.probability:.4f} as the model is. "
        f"Without layer {worst['layer']:.0f}, head {worst['head']:.0f} it is "
        f"{worst['probability']:.4f}, the lowest of {len(table)} removals; without layer "
        f"{best['layer']:.0f}, head {best['head']:.0f} {best['probability']:.4f}, the highest."
    )


def change_sentence(found: Intervention) -> str:
    """Loss and divergence of one change."""
    before, after = found.loss() if len(found.before.ids) > 1 else (float("nan"),) * 2
    return (
        f"Loss on the text: {before:.3f} nats a token as it is, {after:.3f} changed "
        f"({after - before:+.3f}). KL divergence of the next-token distributions: "
        f"{found.divergence():.4f} nats."
    )


def _rows(table: pd.DataFrame, sweep: Sweep) -> list[dict[str, Any]]:
    several = len({group for group, _ in sweep.layers}) > 1
    return [
        row | {"where": f"{row['group']} {row['layer']}" if several else str(row["layer"])}
        for row in table.to_dict(orient="records")
    ]


def _hex(colour: np.ndarray) -> str:
    return "#" + "".join(f"{int(channel):02x}" for channel in colour)

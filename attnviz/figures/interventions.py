"""What the removal of heads does -> a grid of all heads, the ones that matter, next tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from attnviz.figures import palette
from attnviz.figures.vega import Spec, legible, name, number, tip
from attnviz.models.tokens import screen_tokens

if TYPE_CHECKING:
    import pandas as pd

    from attnviz.interventions.running import Intervention
    from attnviz.interventions.sweeping import Sweep

MEASURES = {
    "log_ratio": "change of ln p of the followed token",
    "loss_change": "change of the loss on the text (nats a token)",
    "moved": "how far the outputs move, relative to their length",
}
SHOWN = 12
HEIGHT = 40 * SHOWN


def measures(sweep: Sweep) -> list[str]:
    """What this sweep can be coloured by."""
    if not sweep.predicts:
        return ["moved"]
    return ["log_ratio", "loss_change"] if len(sweep.tokens) > 1 else ["log_ratio"]


def grid_chart(sweep: Sweep, measure: str, *, dark: bool = False) -> Spec:
    """All heads, layers down and heads across; the colour is what removing one changes."""
    table = sweep.table()
    reach = max(float(np.abs(table[measure].to_numpy()).max()), 1e-6)
    domain = [-reach, reach]
    colours = [_hex(row) for row in palette.diverging(dark)[:: 255 // 10]]
    if measure == "loss_change":
        colours = colours[::-1]  # purple: the head is needed, in both measures
    if measure == "moved":  # a length: it has no other side
        domain = [0, reach]
        colours = [_hex(row) for row in palette.sequential(dark)[:: 255 // 10]]
    place = {"labelAngle": 0, "tickSize": 0, "domain": False}
    chart = {
        "height": max(HEIGHT, 17 * len(sweep.layers) + 90),
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
                scale={"domain": domain, "range": colours, "interpolate": "rgb"},
                legend={"orient": "bottom", "format": ".2~g", "gradientLength": 260},
            ),
            "tooltip": [
                tip("where", "layer"),
                tip("head", "head", "d"),
                *_numbers(sweep),
            ],
        },
        "datasets": {"heads": _rows(table.sort_values(["group", "layer", "head"]), sweep)},
    }
    return legible(chart, dark=dark)


def needed_chart(sweep: Sweep, measure: str, *, dark: bool = False) -> Spec:
    """The heads whose removal changes most, one bar each."""
    table = sweep.table().sort_values(measure, ascending=measure == "log_ratio").head(SHOWN)
    rows = [
        row | {"name": f"{row['where']}.{row['head']}", "value": row[measure]}
        for row in _rows(table, sweep)
    ]
    chart = {
        "height": HEIGHT,
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
                axis={"format": "+.2~g" if sweep.predicts else ".2~g", "tickCount": 4},
            ),
            "tooltip": [
                tip("name", "layer.head"),
                *_numbers(sweep),
            ],
        },
        "datasets": {"bars": rows},
    }
    return legible(chart, dark=dark)


def moved_chart(found: Intervention, *, dark: bool = False) -> Spec:
    """The tokens whose output states moved most, in the order of the text, one bar each."""
    moved = found.moved().numpy()
    places = sorted(np.argsort(-moved, kind="stable")[:SHOWN])
    rows = [
        {"token": f"{place}  {found.before.axis.labels[place]}", "moved": float(moved[place])}
        for place in places
    ]
    chart = {
        "height": 40 * len(rows) + 40,
        "data": {"name": "bars"},
        "mark": {"type": "bar", "color": palette.ACCENTS["query"][dark]},
        "encoding": {
            "y": name(
                "token",
                None,
                sort=None,
                axis={"labelFontSize": 13, "labelLimit": 220, "labelOverlap": False},
            ),
            "x": number("moved", MEASURES["moved"], scale={"domainMin": 0}),
            "tooltip": [tip("token", "token"), tip("moved", "moved", ".4f")],
        },
        "datasets": {"bars": rows},
    }
    return legible(chart, dark=dark)


def next_chart(table: pd.DataFrame, *, dark: bool = False) -> Spec:
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
    rows = _rows(sweep.table(), sweep)
    most, least = (_head(row) for row in (rows[0], rows[-1]))
    if not sweep.predicts:
        return (
            f"Without {most} the output states move by {rows[0]['moved']:.1%} of their length, the "
            f"most of {len(rows)} removals; without {least} by {rows[-1]['moved']:.1%}, the least."
        )
    return (
        f"Next token {sweep.token!r}: probability {digits(sweep.probability)} as the model is. "
        f"Without {most} it is {digits(rows[0]['probability'])}, the lowest of {len(rows)} "
        f"removals; without {least} {digits(rows[-1]['probability'])}, the highest."
    )


def change_sentence(found: Intervention) -> str:
    """Loss and divergence of one change, or how far an encoder's states moved."""
    if not found.predicts:
        moved = found.moved()
        return (
            f"The output states moved by {float(moved.mean()):.1%} of their length on average, at "
            f"most by {float(moved.max()):.1%}. This model predicts no next token."
        )
    p, q = (reading.probabilities() for reading in (found.before, found.after))
    first, then = int(p.argmax()), int(q.argmax())
    old, new = (screen_tokens(found.tokenizer, [token])[0][0] for token in (first, then))
    now = "" if first == then else f"; now the likeliest is {new!r} with {digits(q[then])}"
    words = (
        f"The likeliest next token {old!r} has probability {digits(p[first])} as it is and "
        f"{digits(q[first])} changed{now}. KL divergence of the two distributions "
        f"{digits(found.divergence())} nats."
    )
    if len(found.before.ids) < 2:
        return words
    before, after = found.loss()
    return (
        f"Loss on the text: {digits(before)} nats a token as it is, {digits(after)} changed "
        f"({digits(after - before, '+')}). {words}"
    )


def digits(value: Any, sign: str = "") -> str:
    """Four decimals, or of what these would make 0 its first two digits."""
    number = float(value)
    return f"{number:{sign}.4f}" if number == 0 or abs(number) >= 5e-5 else f"{number:{sign}.1e}"


def head_words(row: Any) -> str:
    """A sweep's head as it is written in the page's controls: 17.3, or cross:0.2."""
    group = "" if row["group"] == "self" else f"{row['group']}:"
    return f"{group}{row['layer']:.0f}.{row['head']:.0f}"


def _head(row: dict[str, Any]) -> str:
    group = "" if row["group"] == "self" else f"{row['group']} "
    return f"{group}layer {row['layer']}, head {row['head']}"


def _numbers(sweep: Sweep) -> list[Spec]:
    """The lines of a tooltip that say what a removal does."""
    if not sweep.predicts:
        return [tip("moved", MEASURES["moved"], ".4f")]
    return [
        tip("probability", f"p of {sweep.token}", ".4f"),
        tip("log_ratio", MEASURES["log_ratio"], "+.4f"),
        tip("loss_change", MEASURES["loss_change"], "+.4f"),
    ]


def _rows(table: pd.DataFrame, sweep: Sweep) -> list[dict[str, Any]]:
    several = len({group for group, _ in sweep.layers}) > 1
    return [
        row | {"where": f"{row['group']} {row['layer']}" if several else str(row["layer"])}
        for row in table.to_dict(orient="records")
    ]


def _hex(colour: np.ndarray) -> str:
    return "#" + "".join(f"{int(channel):02x}" for channel in colour)

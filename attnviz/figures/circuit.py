"""The induction circuit -> the loss along the text, and what each head's removal costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from attnviz.figures import palette
from attnviz.figures.vega import Spec, legible, name, number, tip

if TYPE_CHECKING:
    from attnviz.interventions.circuit import Circuit, Head

RUNS = {
    "whole": "the model as it is",
    "finder": "without the head that finds",
    "teller": "without the head below it",
}
PADDING = {"left": 5, "right": 18, "top": 5, "bottom": 5}  # the last number's own half


def head_name(head: Head) -> str:
    return f"layer {head[0]}, head {head[1]}"


def loss_chart(circuit: Circuit, runs: tuple[str, ...], *, dark: bool = False) -> Spec:
    """How surprised the model is by each token, as it is and with heads removed."""
    labels = circuit.capture.tokens
    rows = [
        {"place": place, "token": labels[place], "run": RUNS[run], "nats": float(nats)}
        for run in runs
        for place, nats in enumerate(circuit.losses[run], 1)
    ]
    colours = [palette.ACCENTS[word][dark] for word in ("query", "key", "output")]
    line = number(
        "place",
        "position in the text",
        axis={"tickMinStep": 1, "grid": False},
        scale={"domain": [0, len(labels)], "nice": False},
    )
    chart = {
        "height": 330 if len(runs) == 1 else 420,  # three lines of legend take their part
        "padding": PADDING,
        "layer": [
            {
                "data": {"name": "edge"},
                "mark": {"type": "rule", "strokeDash": [4, 4], "size": 2},
                "encoding": {
                    "x": line,
                    "color": {"value": palette.ACCENTS["plain"][dark]},
                    "tooltip": [tip("what", "here")],
                },
            },
            {
                "data": {"name": "losses"},
                "mark": {"type": "line", "point": {"size": 45}, "strokeWidth": 2},
                "encoding": {
                    "x": line,
                    "y": number("nats", "surprise, −ln p (nats)", scale={"zero": True}),
                    "color": name(
                        "run",
                        scale={"domain": list(RUNS.values()), "range": colours},
                        legend={"orient": "top", "direction": "vertical", "labelLimit": 0}
                        if len(runs) > 1
                        else None,
                    ),
                    "tooltip": [
                        tip("run", "run"),
                        tip("token", "token"),
                        tip("place", "position", "d"),
                        tip("nats", "−ln p", ".3f"),
                    ],
                },
            },
        ],
        "datasets": {
            "losses": rows,
            "edge": [{"place": circuit.half, "what": "the text begins again"}],
        },
    }
    return legible(chart, dark=dark)


def rises_chart(circuit: Circuit, *, dark: bool = False) -> Spec:
    """By how much the loss on the second half rises without each head."""
    plain, chosen = (palette.ACCENTS[word][dark] for word in ("plain", "query"))
    rows = [
        {
            "name": f"{row['layer']:.0f}.{row['head']:.0f}",
            "rise": float(row["rise"]),
            "kind": "of the circuit"
            if (row["layer"], row["head"]) in (circuit.finder, circuit.teller)
            else "another",
        }
        for row in circuit.heads.to_dict(orient="records")
    ]
    chart = {
        "height": 34 * len(rows) + 30,
        "padding": PADDING,
        "data": {"name": "bars"},
        "mark": {"type": "bar"},
        "encoding": {
            "y": name("name", "layer.head", sort=None, axis={"labelFontSize": 13}),
            "x": number(
                "rise", "rise of the loss on the second half (nats a token)", axis={"tickCount": 6}
            ),
            "color": name(
                "kind",
                scale={"domain": ["of the circuit", "another"], "range": [chosen, plain]},
                legend=None,
            ),
            "tooltip": [tip("name", "layer.head"), tip("rise", "rise", "+.4f")],
        },
        "datasets": {"bars": rows},
    }
    return legible(chart, dark=dark)


def read_twice(circuit: Circuit) -> str:
    """The first step in numbers."""
    losses = circuit.losses["whole"]
    first, second = losses[: circuit.half - 1], losses[circuit.second]
    blind = np.log(circuit.n_words)
    return (
        f"The first time a character costs {first.mean():.2f} nats on average (a blind guess "
        f"would cost {blind:.2f}; the model was never taught to guess), the second time "
        f"{second.mean():.3f}."
    )


def finder_sentence(circuit: Circuit) -> str:
    """The second step in numbers."""
    scores = np.sort(circuit.heads["induction"].to_numpy())[::-1]
    return (
        f"{head_name(circuit.finder).capitalize()} has {scores[0]:.3f} of its weight there on "
        f"average; the next highest head has {scores[1]:.3f}."
    )


def teller_sentence(circuit: Circuit) -> str:
    """The third step in numbers."""
    finder, teller = circuit.finder, circuit.teller
    return (
        f"{head_name(teller).capitalize()} has {circuit.score(teller, 'previous'):.3f} of its "
        f"weight on the token before. Without it the induction score of {head_name(finder)} falls "
        f"from {circuit.score(finder, 'induction'):.3f} to {circuit.induction_without:.3f}."
    )


def removal_sentence(circuit: Circuit) -> str:
    """The fourth step in numbers."""
    rises = circuit.heads["rise"]
    return (
        f"Loss on the second half: {circuit.losses['whole'][circuit.second].mean():.3f} nats a "
        f"token as it is. Without {head_name(circuit.finder)} it rises by "
        f"{circuit.score(circuit.finder, 'rise'):.2f} nats, without {head_name(circuit.teller)} by "
        f"{circuit.score(circuit.teller, 'rise'):.2f}; without the median head by "
        f"{rises.median():.3f}."
    )

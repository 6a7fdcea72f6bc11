"""What the date writers wrote -> their alignment, and how often each is right."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attnviz.errors import AttnvizError
from attnviz.figures import palette
from attnviz.figures.figure import Axis, Figure, Panel
from attnviz.figures.vega import Spec, legible, name, number, tip
from attnviz.models.teaching.date_writer import Written

END = "end"
NAMES = {"attention": "with attention", "fixed": "one fixed vector"}


def alignment_figure(line: str, written: Written) -> Figure:
    """Each letter written, and the letters read that it was drawn from."""
    if written.alignment is None:
        raise AttnvizError("Only the writer with attention has an alignment.")
    letters = tuple(line.lower().strip().replace(" ", "␣"))
    made = tuple(written.text) + ((END,) if written.stopped else ())
    sure = [f"probability {p:.3f}" for p in written.probabilities.tolist()]
    return Figure(
        title="Where each written letter was read",
        alt=(
            f"A matrix of weights: {len(made)} letters written in rows, {len(letters)} letters "
            f"read in columns; every row sums to 1."
        ),
        panels=(
            Panel(
                "alignment",
                "Alignment",
                written.alignment.float().cpu().numpy(),
                Axis("query", "written: attends from", made, details=tuple(sure)),
                Axis("key", "read: attends to", letters),
                subtitle="softmax weights over the letters read, every row sums to 1",
                limit=1.0,
            ),
        ),
        settings="GRU encoder and decoder with additive attention, trained on written dates",
        file_stem="attnviz_alignment",
        snippet=(
            f"from attnviz.models.teaching.date_writer import load\n\n"
            f'written = load("attention").write({line!r})\n'
            f"print(written.text, written.alignment)\n"
        ),
    )


def accuracy_chart(card: Mapping[str, Any], *, dark: bool = False) -> Spec:
    """The share of dates that come out right, against the length of the line, for both writers."""
    rows = [
        {
            "writer": NAMES[kind],
            "characters": row["characters"],
            "right": row["right"],
            "dates": row["dates"],
            "trained": "yes" if row["dates"] <= card["longest_trained"] else "no, longer",
        }
        for kind, judged in card["accuracy"].items()
        for row in judged
    ]
    calm = palette.ACCENTS["plain"][dark]
    below = {"orient": "bottom", "labelLimit": 0}
    shapes = below | {"symbolFillColor": calm, "symbolStrokeColor": calm}  # else black on black
    shared = {
        "x": number(
            "characters",
            "Mean length of the line (characters)",
            scale={"domain": [0, 145]},
            axis={"values": list(range(0, 141, 20))},
        ),
        "y": number("right", "Dates right to the last digit", axis={"format": "%"})
        | {"scale": {"domain": [0, 1]}},
        "color": name(
            "writer",
            scale={"domain": list(NAMES.values()), "range": list(palette.LINES[dark][:2])},
            legend=below,
        ),
        "tooltip": [
            tip("writer", "Writer"),
            tip("dates", "Dates in the line", "d"),
            tip("characters", "Characters", ".0f"),
            tip("right", "Right", ".1%"),
            tip("trained", "Such lengths in training"),
        ],
    }
    chart = {
        "title": "Right dates against length",
        "height": 380,
        "layer": [
            {"data": {"name": "judged"}, "mark": "line", "encoding": shared},
            {
                "data": {"name": "judged"},
                "mark": {"type": "point", "filled": True, "size": 70},
                "encoding": shared
                | {"shape": name("trained", "such lengths in training", legend=shapes)},
            },
        ],
        "datasets": {"judged": rows},
    }
    return legible(chart, dark=dark)


def accuracy_sentence(card: Mapping[str, Any]) -> str:
    """What the curves say, in words, and where they come from."""
    at = {
        kind: {row["dates"]: row["right"] for row in rows}
        for kind, rows in card["accuracy"].items()
    }
    longest, beyond = card["longest_trained"], max(at["fixed"])

    def shares(dates: int) -> str:
        return f"{at['attention'][dates]:.1%} with attention and {at['fixed'][dates]:.1%} without"

    return (
        f"Dates that come out right, recorded after training: {shares(1)} for one date in the "
        f"line; {shares(longest)} for {longest}, the most that training had; {shares(beyond)} for "
        f"{beyond}, more than either has ever seen. Judged on {card['lines_judged']} lines of "
        f"dates kept out of training; `{card['script']}`, seed {card['seed']}, makes all of it "
        f"again."
    )

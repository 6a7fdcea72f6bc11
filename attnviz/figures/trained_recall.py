"""Accuracy of the trained stacks -> a point for each, against what it keeps between tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attnviz.figures import palette
from attnviz.figures.vega import Spec, legible, name, number, tip

if TYPE_CHECKING:
    import pandas as pd


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Mean, least and largest accuracy over the training seeds, a row a stack."""
    keys = ["stack", "layers", "full", "fixed_bytes", "bytes"]
    groups = table.groupby(keys, sort=False)["accuracy"]
    out = groups.agg(["mean", "std", "min", "max", "count"]).reset_index()
    return out.rename(columns={"count": "seeds"})


def chart(table: pd.DataFrame, summed: pd.DataFrame, chance: float, *, dark: bool = False) -> Spec:
    """The line joins the means; a ring is one training seed, and bars go from the least to the
    largest. The dashed line is guessing."""
    x = number(
        "bytes",
        "bytes kept at the last token (log scale)",
        scale={"type": "log", "base": 2, "nice": False, "padding": 50},
        axis={"grid": False, "format": ",d", "labelFlush": False},
    )
    y = number("mean", "accuracy on fresh sequences", scale={"domain": [0, 1]})
    line, calm = palette.LINES[dark][0], palette.ACCENTS["plain"][dark]
    told = [
        tip("stack", "linear to full layers"),
        tip("layers", "layers"),
        tip("bytes", "bytes kept", ",d"),
        tip("mean", "accuracy, mean", ".4f"),
        tip("min", "least seed", ".4f"),
        tip("max", "largest seed", ".4f"),
        tip("seeds", "training seeds", "d"),
    ]
    spec = {
        "height": 360,
        "layer": [
            {
                "data": {"name": "chance"},
                "mark": {"type": "rule", "color": calm, "strokeDash": [2, 3]},
                "encoding": {"y": y},
            },
            {
                "data": {"name": "stacks"},
                "mark": {"type": "rule", "strokeWidth": 2, "color": line},
                "encoding": {"x": x, "y": y | {"field": "min"}, "y2": {"field": "max"}},
            },
            {
                "data": {"name": "stacks"},
                "mark": {"type": "line", "color": line, "point": {"size": 70, "color": line}},
                "encoding": {"x": x, "y": y, "tooltip": told},
            },
            {
                "data": {"name": "runs"},
                "mark": {"type": "point", "color": line, "size": 110, "strokeWidth": 1.5},
                "encoding": {
                    "x": x,
                    "y": y | {"field": "accuracy"},
                    "tooltip": [
                        tip("stack", "linear to full layers"),
                        tip("seed", "training seed", "d"),
                        tip("accuracy", "accuracy", ".4f"),
                    ],
                },
            },
            {
                "data": {"name": "stacks"},
                "mark": {"type": "text", "align": "left", "dx": 8, "dy": 14, "fontSize": 13},
                "encoding": {"x": x, "y": y, "text": name("stack"), "color": {"value": calm}},
            },
        ],
        "datasets": {
            "stacks": summed.to_dict(orient="records"),
            "runs": table.to_dict(orient="records"),
            "chance": [{"mean": chance}],
        },
    }
    return legible(spec, dark=dark)


def reading(summed: pd.DataFrame) -> str:
    """Markdown: how often each stack was right, and what that took, in numbers of this run."""
    rows = summed.to_dict(orient="records")
    told = "; ".join(
        f"{row['stack']} **{row['mean']:.3f}** in {row['bytes']:,} bytes" for row in rows
    )
    text = f"Right answers, mean over {rows[0]['seeds']} training seeds: {told}."
    if lucky := [row["stack"] for row in rows if row["min"] < 0.5 < row["max"]]:
        text += (
            f"  \nOf {' and '.join(lucky)} some runs found it and some had not in these steps: "
            "that bar is the luck of training, not the size of the cache."
        )
    return text

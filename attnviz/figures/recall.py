"""Measured recall -> the error of each mechanism against the number of keys, with error bars."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attnviz.figures import palette
from attnviz.figures.vega import Spec, legible, name, number, tip

if TYPE_CHECKING:
    import pandas as pd

TITLES = {"distinct": "Distinct keys", "overwritten": "Overwritten keys, the latest value wanted"}
REPLACES = "Sums and softmax mix all values of a key, old and new; the delta rule replaces."


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Mean, standard deviation, least and largest error over the seeds, a row a point."""
    keys = ["task", "mechanism", "title", "settings", "d", "keys", "writes"]
    groups = table.groupby(keys, sort=False)["error"]
    out = groups.agg(["mean", "std", "min", "max", "count"]).reset_index()
    out["std"] = out["std"].fillna(0.0)  # of a single seed
    return out.rename(columns={"count": "seeds"})


def recall_chart(summed: pd.DataFrame, task: str, *, dark: bool = False) -> Spec:
    """One task: a line a mechanism, its bar from the least to the largest seed."""
    rows = summed.loc[summed["task"] == task]
    titles = list(dict.fromkeys(summed["title"]))
    d = int(rows["d"].iloc[0])
    x = number(
        "keys",
        "keys stored (log scale)",
        scale={"type": "log", "base": 2, "nice": False},
        axis={"values": sorted(rows["keys"].unique().tolist()), "format": "d", "grid": False},
    )
    y = number("mean", "relative error (0 is perfect)", scale={"zero": True}, axis={"tickCount": 6})
    color = name(
        "title",
        scale={"domain": titles, "range": list(palette.LINES[dark][: len(titles)])},
        legend={"orient": "bottom", "columns": 2, "labelLimit": 0},
    )
    told = [
        tip("title", "mechanism"),
        tip("settings", "settings"),
        tip("keys", "keys", "d"),
        tip("mean", "error, mean", ".3g"),
        tip("std", "standard deviation", ".2g"),
        tip("seeds", "seeds", "d"),
    ]
    calm = palette.ACCENTS["plain"][dark]
    chart = {
        "title": TITLES[task],
        "height": 430,
        "layer": [
            {
                "data": {"name": "size"},
                "mark": {"type": "rule", "color": calm, "strokeDash": [2, 3]},
                "encoding": {"x": x},
            },
            {
                "data": {"name": "points"},
                "mark": {"type": "rule", "strokeWidth": 1.5},
                "encoding": {
                    "x": x,
                    "y": y | {"field": "min"},
                    "y2": {"field": "max"},
                    "color": color,
                },
            },
            {
                "data": {"name": "points"},
                "mark": {"type": "line", "point": {"size": 45}, "strokeWidth": 2},
                "encoding": {"x": x, "y": y, "color": color, "tooltip": told},
            },
        ],
        "datasets": {"points": rows.to_dict(orient="records"), "size": [{"keys": d}]},
    }
    return legible(chart, dark=dark)


def reading(summed: pd.DataFrame) -> str:
    """Markdown: what the largest and the smallest points say, in numbers of this run."""
    distinct = _at(summed, "distinct", last=True)
    again = _at(summed, "overwritten", last=False)
    return (
        f"**Distinct.** With {distinct['keys']} keys in a state of {distinct['d']} × "
        f"{distinct['d']}: softmax {distinct['softmax']:.1g}, DeltaNet "
        f"{distinct['delta_rule']:.2f}, sums {distinct['linear']:.2f} (0 is perfect, 1 as good as "
        f"answering nothing).  \n"
        f"**Overwritten.** {again['keys']} keys, each written {again['writes']} times: sums "
        f"{again['linear']:.2f}, softmax {again['softmax']:.2f}, DeltaNet "
        f"{again['delta_rule']:.2f}."
        + (" " + REPLACES if again["writes"] > 1 else " Written once, nothing is overwritten.")
    )


def _at(summed: pd.DataFrame, task: str, *, last: bool) -> dict[str, Any]:
    rows = summed.loc[summed["task"] == task]
    keys = int(rows["keys"].max() if last else rows["keys"].min())
    rows = rows.loc[rows["keys"] == keys]
    errors = dict(zip(rows["mechanism"], rows["mean"], strict=True))
    sizes = {"keys": keys, "d": int(rows["d"].iloc[0]), "writes": int(rows["writes"].iloc[0])}
    return {**errors, **sizes}

"""A comparison of two runs -> A's map, B's and B minus A, in common coordinates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from jaxtyping import Bool, Int

from attnviz.figures.capture import block_of
from attnviz.figures.figure import Axis, Figure, Grid, Panel
from attnviz.figures.spreadsheet import csv_of
from attnviz.models.choice import ModelChoice

if TYPE_CHECKING:
    from attnviz.comparing.aligned import Aligned, Head
    from attnviz.comparing.changes import Changes
    from attnviz.comparing.comparison import Comparison

NO_TOKEN = "–"
DISTANCE, MOVED = "Distance of the two maps", "Weight that moved"


def compare_models_figure(
    found: Comparison, head: Head, head_b: Head, changes: Changes | None, code: str = ""
) -> Figure:
    """The two maps and their difference; with changes, every head's difference as a thumbnail.

    head, head_b: (true layer index, head) of A and of B. A row or column of a token that only
    one text has is undefined in the other's map and in the difference. code: Python that makes
    `found`.
    """
    block = max(block_of(len(found.rows)), block_of(len(found.cols)))
    one, other, difference = found.maps(head, head_b, block)
    sides = [(found.a, found.rows.a, found.cols.a), (found.b, found.rows.b, found.cols.b)]
    axes = [
        (
            _axis("query", "query: attends from", side.tokens, rows),
            _axis("key", "key: attends to", _keys(side), cols),
        )
        for side, rows, cols in sides
    ]
    both = (
        _joined("query", "query: attends from", axes[0][0], axes[1][0], found.rows.same),
        _joined("key", "key: attends to", axes[0][1], axes[1][1], found.cols.same),
    )
    limit = _largest(one, other) if found.signed else 1.0
    scale = "signed" if found.signed else "weight"
    names = [f"{word}: layer {at[0]}, head {at[1]}" for word, at in (("A", head), ("B", head_b))]
    panels = [
        _panel(
            word.lower(),
            title,
            part,
            pair,
            block,
            scale,
            f"{side.model_name} on text {word}",
            limit=limit,
        )
        for word, title, part, pair, (side, _, _) in zip(
            "AB", names, (one, other), axes, sides, strict=True
        )
    ]
    told = "undefined: no partner"
    panels.append(_panel("difference", "B − A", difference, both, block, "signed", told))
    asked = "(layer, head)" if found.ranked else f"{head}, {head_b}"
    models = " and ".join(dict.fromkeys(side.model_name for side, _, _ in sides))
    return Figure(
        title=f"A and B: {models}",
        alt=(
            f"Attention maps of {names[0]} and {names[1]} in {len(found.rows)} common rows and "
            f"{len(found.cols)} common columns, and B minus A."
        ),
        panels=tuple(panels),
        grid=None if changes is None else _grid(found, changes),
        settings=f"{names[0]} of {found.a.model_name}, {names[1]} of {found.b.model_name}",
        file_stem="attnviz_a_and_b",
        snippet=code and f"{code}print(found.difference({asked}))\n",
    )


def _keys(side: Any) -> tuple[str, ...]:
    return getattr(side, "key_tokens", None) or side.tokens


def _axis(
    name: str, title: str, tokens: tuple[str, ...], places: Int[np.ndarray, " slots"]
) -> Axis:
    """One text's tokens in the slots."""
    labels = tuple([NO_TOKEN if place < 0 else tokens[place] for place in places])
    details = tuple(
        "no such token in this text" if place < 0 else f"position {place}" for place in places
    )
    return Axis(name, title, labels, details)


def _joined(name: str, title: str, a: Axis, b: Axis, same: Bool[np.ndarray, " slots"]) -> Axis:
    """Both texts' tokens: one where they are the same, else A's and B's."""
    slots = zip(a.labels, b.labels, same, strict=True)
    labels = tuple(one if equal else f"{one}/{other}" for one, other, equal in slots)
    details = tuple(
        f"A: {one}, B: {other}" for one, other in zip(a.details or (), b.details or (), strict=True)
    )
    return Axis(name, title, labels, details)


def _largest(*parts: Aligned) -> float | None:
    sizes = [np.abs(part.values[~np.isnan(part.values)]) for part in parts]
    return max((float(size.max()) for size in sizes if len(size)), default=0.0) or None


def _panel(
    id: str,
    title: str,
    part: Aligned,
    axes: tuple[Axis, Axis],
    block: int,
    scale: str,
    subtitle: str,
    *,
    limit: float | None = None,
) -> Panel:
    if block > 1 and limit is None:
        limit = _largest(part)
    return Panel(
        id=id,
        title=title,
        values=part.values,
        rows=axes[0],
        cols=axes[1],
        scale=scale,  # type: ignore[arg-type]
        blocked=part.blocked if part.blocked.any() else None,
        subtitle=subtitle,
        limit=limit,
        value_name="difference" if id == "difference" else "",
        block=block,
        tops=np.nan_to_num(part.tops) if block > 1 else None,
    )


def _grid(found: Comparison, changes: Changes) -> Grid:
    return Grid(
        thumbnails=changes.thumbnails,
        layers=tuple(layer.index for layer in found.a.captured),
        metrics={
            title: changes.table.pivot(index="layer", columns="head", values=column).to_numpy(
                np.float32
            )
            for column, title in (("distance", DISTANCE), ("moved", MOVED))
            if bool(changes.table[column].notna().any())
        },
    )


def heads_table(found: Comparison, changes: Changes) -> pd.DataFrame:
    """The table of heads with the tokens whose rows moved most written out."""
    table = changes.table.drop(columns=["query_a", "query_b"])
    for word, side in (("a", found.a), ("b", found.b)):
        places = changes.table[f"query_{word}"]
        table[f"query_{word}"] = [
            f"{place}  {side.tokens[place]}" if place >= 0 else NO_TOKEN for place in places
        ]
    return table


def pairs_table(found: Comparison) -> pd.DataFrame:
    """Every slot of the queries: position and token of A, and of B; empty where there is none."""
    rows = found.rows
    return pd.DataFrame(
        {
            "a": [None if i < 0 else int(i) for i in rows.a],
            "token_a": [None if i < 0 else found.a.tokens[i] for i in rows.a],
            "b": [None if j < 0 else int(j) for j in rows.b],
            "token_b": [None if j < 0 else found.b.tokens[j] for j in rows.b],
            "pair": np.where(rows.same, "same", np.where(rows.paired, "replaced", "no partner")),
        }
    ).astype({"a": "Int64", "b": "Int64"})


def difference_csv(found: Comparison, head: Head, head_b: Head) -> str:
    """B - A of one head as a table, a row a query, each named by its tokens; empty: no partner."""
    values = found.difference(head, head_b)
    rows, cols = (
        [f"{a}/{b}" for a, b in zip(side.a, side.b, strict=True)]
        for side in (found.rows, found.cols)
    )
    frame = pd.DataFrame(values, columns=cols)
    frame.insert(0, "positions of A/B; -1: none", rows)
    return csv_of(frame)


def compare_models_code(
    models: tuple[ModelChoice, ModelChoice],
    given: tuple[str, str],
    group: str | None,
    *,
    effective: bool = False,
) -> str:
    """Python that makes `found`, the comparison of two captures.

    given: what each model's capture is given, as Python.
    """
    one, other = models
    lines = ["import attnviz as av", "from attnviz.comparing import compare", ""]
    lines.append(f"model = {one.code}")
    second = "model"
    if other != one:
        second = "other"
        lines.append(f"other = {other.code}")
    of = ".effective" if effective else ""
    lines += [
        f"a = av.capture(model, {given[0]}){of}",
        f"b = av.capture({second}, {given[1]}){of}",
        f"found = compare(a, b{'' if group is None else f', group={group!r}'})",
        "",
    ]
    return "\n".join(lines)

"""All heads by how alike they are, and attention through all layers -> figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from attnviz.figures import palette
from attnviz.figures.capture_words import METRICS
from attnviz.figures.figure import Axis, Figure, Panel
from attnviz.figures.vega import Spec, legible, name, number, tip

if TYPE_CHECKING:
    from attnviz.metrics.layout import Likeness
    from attnviz.metrics.rollout import Chains

COLOURS = {"layer": "Layer"} | METRICS
"""What the points of the plane may be coloured by."""


MOST_NAMED = 10
"""Layers, below the plane."""


def distances_figure(found: Likeness, model: str) -> Figure:
    """Every head against every other, alike ones side by side."""
    heads = [found.places[place] for place in found.order]
    axis = Axis(
        "head",
        "layer.head, alike ones side by side",
        tuple(f"{layer}.{head}" for layer, head in heads),
        tuple(f"layer {layer}, head {head}" for layer, head in heads),
    )
    values = found.distances[np.ix_(found.order, found.order)].astype(np.float32)
    return Figure(
        title=model,
        alt=f"Distances between the {len(heads)} heads of {model}, alike ones side by side.",
        panels=(
            Panel(
                "distances",
                "Distances between heads",
                values,
                axis,
                axis,
                scale="magnitude",
                subtitle="0: equal maps, 1: no key in common",
                limit=1.0,
                value_name="distance",
            ),
        ),
        settings=f"{model}, square root of the Jensen-Shannon divergence in bits",
        file_stem=f"{model}_head_distances",
    )


def pair_sentence(found: Likeness, row: int | None, col: int | None) -> str:
    """The chosen pair in words, or the closest one of different heads."""
    far = found.distances + np.eye(len(found.places)) * 2
    if row is None or col is None or not (0 <= row < len(far) and 0 <= col < len(far)):
        one, other = np.unravel_index(int(far.argmin()), far.shape)
        begin = "Most alike: "
    else:
        one, other = found.order[row], found.order[col]
        begin = ""
    (a, b), (c, d) = found.places[int(one)], found.places[int(other)]
    return (
        f"{begin}layer {a}, head {b} and layer {c}, head {d}, at distance "
        f"{found.distances[one, other]:.3f}."
    )


def plane_chart(
    found: Likeness, metrics: Any, colour: str, chosen: tuple[int, int], *, dark: bool = False
) -> Spec:
    """One point a head, alike ones close together. metrics: a capture's table of heads."""
    table = metrics.set_index(["layer", "head"])
    rows = []
    for (layer, head), (x, y) in zip(found.places, found.points, strict=True):
        known = {word: _number(table[word].get((layer, head))) for word in METRICS if word in table}
        value = float(layer) if colour == "layer" else known[colour]
        where = {"layer": layer, "head": head, "x": float(x), "y": float(y)}
        rows.append(where | known | {"value": value, "chosen": (layer, head) == chosen})
    reach = 1.08 * max(float(np.abs(found.points).max()), 1e-6)
    axis = {"domain": [-reach, reach], "nice": False}
    shades = palette.sequential(dark)[90:251:20]
    tips = [
        tip("layer", "layer", "d"),
        tip("head", "head", "d"),
        *(tip(word, title, ".4f") for word, title in METRICS.items() if word in table),
    ]
    chart = {
        "height": 470,
        "data": {"name": "heads"},
        "params": [
            {
                "name": "point",
                "select": {"type": "point", "fields": ["layer", "head"], "clear": False},
            }
        ],
        "mark": {"type": "circle", "opacity": 0.9, "cursor": "pointer"},
        "encoding": {
            "x": number("x", "first direction", scale=axis, axis={"tickCount": 5}),
            "y": number("y", "second direction", scale=axis, axis={"tickCount": 5}),
            "color": number(
                "value",
                None,
                scale={"range": ["#" + bytes(row).hex() for row in shades]},
                legend=_legend(colour, {layer for layer, _ in found.places}),
            ),
            "size": name(
                "chosen", scale={"domain": [False, True], "range": [60, 320]}, legend=None
            ),
            "order": name("chosen"),
            "tooltip": tips,
        },
        "datasets": {"heads": rows},
    }
    return legible(chart, dark=dark)


def _legend(colour: str, layers: set[int]) -> dict[str, Any] | None:
    """The colours' key; layers are whole numbers, and a single one needs none."""
    legend: dict[str, Any] = {
        "orient": "bottom",
        "title": COLOURS[colour],
        "format": ".2~g",
        "gradientLength": 240,
    }
    if colour != "layer":
        return legend
    steps = -(-len(layers) // MOST_NAMED)
    return legend | {"values": sorted(layers)[::steps], "format": "d"} if len(layers) > 1 else None


def plane_sentence(found: Likeness) -> str:
    """What the plane keeps of the distances."""
    return (
        f"{len(found.places)} heads; the plane keeps {found.kept:.0%} of the squared distances "
        "(classical scaling): near points may still differ, far ones do."
    )


def chains_figure(found: Chains, layer: int, axes: tuple[Axis, Axis], model: str) -> Figure:
    """Rollout up to and with a layer, and the flow of the last one where there is one.

    axes: the capture's queries and keys.
    """
    place, (rows, cols) = found.layers.index(layer), axes
    size = len(rows.labels)
    values = found.rollout[place].astype(np.float32)
    blocked = np.triu(np.ones((size, size), bool), 1) if causal(found) else None
    panels = [
        Panel(
            "rollout",
            f"Rollout, layers {found.layers[0]} to {layer}",
            values,
            rows,
            cols,
            blocked=blocked,
            subtitle="rows sum to 1",
            value_name="share",
        )
    ]
    if found.flow is not None:
        panels.append(
            Panel(
                "flow",
                f"Attention flow, layers {found.layers[0]} to {found.layers[-1]}",
                found.flow.astype(np.float32),
                rows,
                cols,
                scale="magnitude",
                limit=1.0,
                blocked=blocked,
                subtitle="largest flow of each pair; rows do not sum to 1",
                value_name="flow",
            )
        )
    return Figure(
        title=model,
        alt=f"How the {size} tokens reach each other through the layers of {model}.",
        panels=tuple(panels),
        settings=f"{model}, rollout up to layer {layer}, (W + I) / 2 of each layer's mean head",
        file_stem=f"{model}_rollout",
    )


def causal(found: Chains) -> bool:
    """Whether nothing reaches a token from later ones."""
    return not np.triu(found.rollout[-1], 1).any()


def rows_sentence(found: Chains, layer: int, tokens: tuple[str, ...]) -> str:
    """Where the last token's share lies, in words; holds tokens, so it is shown as plain text."""
    row = found.rollout[found.layers.index(layer)][-1]
    best = int(row.argmax())
    words = (
        f"After layer {layer}, the last token has {row[best]:.3f} of its share from token {best}, "
        f"{tokens[best]!r}; its row sums to {row.sum():.6f}."
    )
    if causal(found):
        words += (
            " In a causal model shares pile up on the first tokens: every path of reads leads "
            "back to them."
        )
    return words


def _number(value: Any) -> float | None:
    return None if value is None or value != value else float(value)

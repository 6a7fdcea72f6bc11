"""A run of a hybrid stack -> every layer's map, and what a decoding step costs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from attnviz.figures import palette
from attnviz.figures.figure import Axis, Figure, Grid, Panel
from attnviz.figures.vega import Spec, legible, name, number, tip
from attnviz.hybrid import Pattern, Stack


def stack_figure(stack: Stack, layer: int, head: int, code: str = "") -> Figure:
    """Layers by heads; one palette, in which a negative cell of an effective map can be told."""
    maps = stack.maps.float().cpu().numpy()
    length = maps.shape[-1]
    pattern = stack.pattern
    later = ~np.tri(length, dtype=bool)
    return Figure(
        title=f"{len(stack.layers)} layers, {pattern.ratio}",
        alt=(
            f"Maps of {maps.shape[0]} layers by {maps.shape[1]} heads on {length} tokens: softmax "
            f"weights of the {pattern.letters.count('F')} layers with a cache, exact effective "
            f"maps of the {pattern.letters.count('L')} with a state."
        ),
        panels=(
            Panel(
                "weights",
                "Map of one head",
                maps[layer, head],
                Axis("query", "query: attends from", stack.tokens, _details(stack)),
                Axis("key", "key: attends to", stack.tokens, _details(stack)),
                scale="signed",
                blocked=later if later.any() else None,
                subtitle="softmax weights in F layers, exact effective maps in L layers",
                limit=1.0,
            ),
        ),
        grid=Grid(maps, tuple(layer.index for layer in stack.layers), stack=maps),
        settings=f"{pattern.letters}: L is {pattern.linear}, F is {pattern.full}",
        file_stem="attnviz_hybrid",
        snippet=code and f"{code}print(stack.maps[layer, head])\n",
    )


def _details(stack: Stack) -> tuple[str, ...] | None:
    return stack.token_details or None


def layer_sentence(stack: Stack, layer: int, head: int) -> str:
    """What kind of layer the open map is from, and the numbers that a reader may take it by."""
    one = stack.layers[layer]
    weights = one.weights[head].double()
    if one.weights_kind == "softmax":
        return (
            f"Layer {layer} is an F layer ({one.variant}): softmax weights, every row adds up to 1."
        )
    least, most = float(weights.min()), float(weights.max())
    return (
        f"Layer {layer} is an L layer ({one.variant}): its exact effective map (output = A·V), not "
        f"a probability; cells lie between {least:.3g} and {most:.3g}."
    ).replace("-", "−")


def hybrid_code(inputs_code: str, pattern: Pattern, n_heads: int, seed: int) -> str:
    """Python that makes `stack`."""
    return (
        f"import attnviz as av\n\n"
        f"pattern = av.hybrid.{pattern!r}\n"
        f"x = {inputs_code}\n"
        f"stack = av.hybrid.run(pattern, x, n_heads={n_heads}, seed={seed})\n"
    )


def step_chart(rows: Sequence[dict[str, Any]], *, dark: bool = False) -> Spec:
    """Milliseconds of a decoding step in one layer against the prefix, both on log axes."""
    mixers = list(dict.fromkeys(row["mixer"] for row in rows))
    x = number(
        "length",
        "tokens before the step (log scale)",
        scale={"type": "log", "base": 2, "nice": False},
        axis={"values": sorted({row["length"] for row in rows}), "format": "~s", "grid": False},
    )
    shared = {
        "x": x,
        "y": number("milliseconds", "ms a layer (log scale)", scale={"type": "log"}),
        "color": name(
            "mixer",
            scale={"domain": mixers, "range": list(palette.LINES[dark][: len(mixers)])},
            legend={"orient": "bottom", "labelLimit": 0},
        ),
        "tooltip": [
            tip("mixer", "mixer"),
            tip("length", "tokens", ",d"),
            tip("milliseconds", "ms a layer", ".3g"),
            tip("bytes", "bytes kept a layer", ",d"),
        ],
    }
    chart = {
        "title": "One decoding step in one layer, measured here",
        "height": 380,
        "data": {"name": "steps"},
        "mark": {"type": "line", "point": {"size": 50}, "strokeWidth": 2},
        "encoding": shared,
        "datasets": {"steps": list(rows)},
    }
    return legible(chart, dark=dark)


def step_sentence(rows: Sequence[dict[str, Any]]) -> str:
    """The ratio of the longest prefix's step to the shortest's, for each mixer."""
    told = []
    for mixer in dict.fromkeys(row["mixer"] for row in rows):
        own = sorted((row for row in rows if row["mixer"] == mixer), key=lambda row: row["length"])
        ratio = own[-1]["milliseconds"] / own[0]["milliseconds"]
        told.append(
            f"**{mixer}**: {own[0]['milliseconds']:.2f} ms after {own[0]['length']:,} tokens, "
            f"{own[-1]['milliseconds']:.2f} ms after {own[-1]['length']:,}, {ratio:.1f} times as "
            f"long, with {own[0]['bytes']:,} and {own[-1]['bytes']:,} bytes kept"
        )
    return "; ".join(told) + "."

"""What a decoding measured -> its map, its times and bytes, and what a changed cache does."""

from __future__ import annotations

from typing import Any

import numpy as np

from attnviz.decoding import Eviction, Generation, Passes, Shared, Stale
from attnviz.figures import palette
from attnviz.figures.capture_axes import MARKED
from attnviz.figures.figure import Axis, Figure, Grid, Panel
from attnviz.figures.vega import Spec, legible, name, number, tip


def map_figure(written: Generation, layer: int, head: int) -> Figure:
    """Every head's map, a row a token, each computed when its token was written."""
    labels, maps = written.labels, written.maps
    first = len(written.prompt) if len(written.prompt) < len(labels) else None
    later = ~np.tri(len(labels), dtype=bool)
    return Figure(
        title="The map that decoding leaves, row by row",
        alt=(
            f"Attention of {maps.shape[0]} layers by {maps.shape[1]} heads over {len(labels)} "
            f"tokens, of which the first {len(written.prompt)} are the prompt."
        ),
        panels=(
            Panel(
                "weights",
                "Map of one head, stitched from the steps",
                maps[layer, head],
                Axis("query", "query: attends from", labels, written=first),
                Axis("key", "key: attends to", labels, written=first),
                scale="weight",
                blocked=later if later.any() else None,
                subtitle="positions are absolute; the prompt's rows came at once, then one a step"
                + (MARKED if first is not None else ""),
                limit=1.0,
                grows_from=len(written.prompt),
            ),
        ),
        grid=Grid(maps, tuple(range(len(maps))), stack=maps),
        settings=f"greedy decoding with a cache, {len(labels)} tokens",
        file_stem="attnviz_decoding",
    )


def _lines(rows: list[dict[str, Any]], y: Spec, title: str, dark: bool, height: int = 360) -> Spec:
    kinds = list(dict.fromkeys(row["way"] for row in rows))
    colours = list(palette.LINES[dark][: len(kinds)])
    chart = {
        "title": title,
        "height": height,
        "data": {"name": "rows"},
        "mark": {"type": "line", "point": {"size": 40}, "strokeWidth": 2},
        "encoding": {
            "x": number("token", "token", axis={"tickMinStep": 1, "grid": False}),
            "y": y,
            "color": name(
                "way",
                scale={"domain": kinds, "range": colours},
                legend={"orient": "bottom", "labelLimit": 0},
            ),
            "tooltip": [tip("way", "way"), tip("token", "token", ","), tip("label", "text")],
        },
        "datasets": {"rows": rows},
    }
    chart["encoding"]["tooltip"].append(tip(y["field"], y["title"], ",.4~g"))
    return legible(chart, dark=dark)


def times(written: Generation, *, dark: bool = False) -> Spec:
    """Milliseconds of each token, with the cache and without; the first is the prefill."""
    rows = [
        {"token": place, "label": step.label, "way": way, "ms": 1e3 * seconds}
        for place, step in enumerate(written.steps, 1)
        for way, seconds in (
            ("with the cache", step.seconds),
            ("reading everything again", step.seconds_without),
        )
    ]
    y = number("ms", "ms a token", scale={"zero": True})
    return _lines(rows, y, "Time of each token, measured here", dark)


def sizes(written: Generation, *, dark: bool = False) -> Spec:
    """Bytes in the cache after each token, from its tensors."""
    rows = [
        {"token": place, "label": step.label, "way": "in the cache", "KiB": step.cache_bytes / 1024}
        for place, step in enumerate(written.steps, 1)
    ]
    y = number("KiB", "KiB kept", scale={"zero": True})
    return _lines(rows, y, "Bytes in the cache after each token", dark)


def passes_chart(passes: Passes, *, dark: bool = False) -> Spec:
    """The largest difference of logits at each position."""
    rows = [
        {"token": place, "label": label, "way": "largest difference of logits", "error": error}
        for place, (label, error) in enumerate(zip(passes.labels, passes.errors, strict=True))
    ]
    y = number("error", "difference", axis={"format": ".1e"})
    return _lines(rows, y, "One pass against token by token", dark)


def stale_figure(found: Stale) -> Figure:
    """Layers by positions: how wrong each cached key is."""
    layers = tuple(f"layer {index}" for index in range(len(found.errors)))
    return Figure(
        title="How wrong the old cache is for the edited text",
        alt=(
            f"Relative error of the cached keys of {len(layers)} layers at {len(found.labels)} "
            f"positions after an edit of token {found.position}."
        ),
        panels=(
            Panel(
                "stale",
                "Error of each cached key",
                found.errors.astype(np.float32),
                Axis("layer", "layer", layers),
                Axis("key", "position in the cache", found.labels),
                scale="magnitude",
                subtitle="|old − fresh| / |fresh|, over all KV heads of a layer",
                value_name="relative error",
            ),
        ),
        settings=f"token {found.position} replaced by {found.new_label}",
        file_stem="attnviz_stale_cache",
    )


def kept_figure(found: Eviction, layer: int, head: int) -> Figure:
    """Which keys each query still found, in one layer and KV head."""
    later = ~np.tri(len(found.labels), dtype=bool)
    return Figure(
        title="What each query still found",
        alt=f"Keys that KV head {head} of layer {layer} still held when each token was read.",
        panels=(
            Panel(
                "kept",
                f"Layer {layer}, KV head {head}",
                found.held[layer, head].astype(np.float32),
                Axis("query", "query: attends from", found.labels),
                Axis("key", "key: still held", found.labels),
                scale="flag",
                blocked=later if later.any() else None,
                subtitle="filled: still in the cache",
                value_name="held",
            ),
        ),
        settings=f"{found.policy}",
        file_stem="attnviz_eviction",
    )


def kl_chart(found: Eviction, *, dark: bool = False) -> Spec:
    """KL of the next-token distribution after each token."""
    rows = [
        {"token": place, "label": label, "way": "KL(full ‖ evicted)", "kl": kl}
        for place, (label, kl) in enumerate(zip(found.labels, found.kl, strict=True))
    ]
    return _lines(rows, number("kl", "nats"), "What forgetting does to the next token", dark)


def loss_chart(found: Shared, *, dark: bool = False) -> Spec:
    """Loss of each token before and after pooling."""
    rows = [
        {"token": place, "label": found.labels[place], "way": f"{heads} KV heads", "loss": loss}
        for heads, losses in zip(found.kv_heads, found.losses, strict=True)
        for place, loss in enumerate(losses, 1)
    ]
    return _lines(rows, number("loss", "nats"), "Loss of each token of the text", dark)

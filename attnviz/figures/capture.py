"""A capture (live or recorded) -> the figure of all its heads and one of them large."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float32

from attnviz.figures.figure import Axis, Figure, Grid, Panel

STACK_BYTES = 2_000_000
"""Below this, all maps travel at once and switching heads needs no server."""

LONGEST_SIDE = 768
"""Tokens a side of the large map; of a longer text one window is shown at a time."""

METRICS = {
    "entropy": "Entropy (nats)",
    "distance": "Mean distance (tokens)",
    "first": "Mass on the first token",
    "previous": "Mass on the previous token",
    "self": "Mass on the token itself",
}
"""What the metric columns of a capture are called on screen."""


@runtime_checkable
class Maps(Protocol):
    """What this figure needs of a capture; a recorded one has it without torch."""

    model_name: str
    text: str
    tokens: Sequence[str]
    token_details: Sequence[str]
    special: Sequence[bool]
    layers: Sequence[Any]

    def weights(
        self, layer: int, head: int, rows: slice | None = None, cols: slice | None = None
    ) -> np.ndarray: ...
    def blocked(
        self, layer: int, rows: slice | None = None, cols: slice | None = None
    ) -> np.ndarray: ...
    def overview(self, size: int = 32) -> np.ndarray: ...
    def metrics(self) -> Any: ...


def captured(capture: Maps) -> list[Any]:
    """The layers that have maps."""
    return [layer for layer in capture.layers if layer.captured]


def layers(capture: Maps) -> tuple[int, ...]:
    """The true indices of the layers that have maps."""
    return tuple(layer.index for layer in captured(capture))


def n_heads(capture: Maps) -> int:
    """Heads of the layer that has most."""
    return max(layer.n_heads for layer in captured(capture))


def default_head(capture: Maps) -> tuple[int, int]:
    """The (layer, head) to show first: a focused one that looks past the obvious.

    Of every head, the share of attention that is not on the first token, the previous token or
    the token itself, times how far the head is from spreading evenly. Ties go to the first.
    """
    frame = capture.metrics().fillna(0.0)  # one token alone has no previous one
    elsewhere = 1 - frame["first"] - frame["previous"] - frame["self"]
    widest = float(frame["entropy"].max()) or 1.0
    best = (elsewhere * (1 - frame["entropy"] / widest)).idxmax()
    return int(frame["layer"][best]), int(frame["head"][best])


def windows(n_tokens: int) -> list[int]:
    """Where the large map of a long text may begin: half a window apart, the last one flush."""
    last = max(n_tokens - LONGEST_SIDE, 0)
    return sorted({*range(0, last, LONGEST_SIDE // 2), last})


def _axis(capture: Maps, name: str, title: str, span: slice) -> Axis:
    return Axis(
        name=name,
        title=title,
        labels=tuple(capture.tokens[span]),
        details=tuple(capture.token_details[span]),
        special=tuple(bool(flag) for flag in capture.special[span]),
    )


def _alike(capture: Maps) -> bool:
    """Whether all layers have the same heads and mask, so that one hatch serves them all."""
    kinds = {(layer.n_heads, layer.n_kv_heads, layer.window) for layer in captured(capture)}
    return len(kinds) == 1


def _metric_grids(capture: Maps) -> dict[str, Float32[np.ndarray, "layers heads"]]:
    frame = capture.metrics()
    grids = {}
    for column, title in METRICS.items():
        table = frame.pivot(index="layer", columns="head", values=column)
        grids[title] = table.to_numpy(np.float32)
    return grids


def capture_figure(capture: Maps, layer: int, head: int, *, start: int = 0) -> Figure:
    """All heads as thumbnails, and the map of one head exactly.

    layer is the true layer index. Of a text longer than LONGEST_SIDE tokens the large map shows
    the window that begins at token `start`, on both axes.
    """
    n_tokens = len(capture.tokens)
    span = slice(start, min(start + LONGEST_SIDE, n_tokens))
    indices, heads = layers(capture), n_heads(capture)
    rows = _axis(capture, "query", "query: attends from", span)
    cols = _axis(capture, "key", "key: attends to", span)

    stack = None
    if _alike(capture) and len(indices) * heads * n_tokens**2 * 4 <= STACK_BYTES:
        stack = np.stack([np.stack([capture.weights(i, h) for h in range(heads)]) for i in indices])
    values = capture.weights(layer, head, rows=span, cols=span)
    blocked = capture.blocked(layer, rows=span, cols=span)

    whole = n_tokens <= LONGEST_SIDE
    subtitle = f"softmax weights, {values.shape[0]} × {values.shape[1]}" + (
        "" if whole else f", tokens {span.start} to {span.stop - 1} of {n_tokens}"
    )
    return Figure(
        title=capture.model_name,
        alt=(
            f"Attention of {capture.model_name} on {n_tokens} tokens: "
            f"{len(indices)} layers of {heads} heads as small maps, one head large."
        ),
        panels=(
            Panel(
                id="weights",
                title=f"Layer {layer}, head {head}",
                values=values,
                rows=rows,
                cols=cols,
                scale="weight",
                blocked=blocked if blocked.any() else None,
                subtitle=subtitle,
            ),
        ),
        grid=Grid(
            thumbnails=capture.overview(),
            layers=indices,
            metrics=_metric_grids(capture),
            stack=stack,
            kv_heads=captured(capture)[0].n_kv_heads if _alike(capture) else None,
        ),
        settings=f"{capture.model_name}, {n_tokens} tokens",
        file_stem=f"{capture.model_name}_attention",
    )

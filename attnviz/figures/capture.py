"""A capture (live or recorded) -> the figure of all its heads and one of them large."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float32

from attnviz.errors import AttnvizError
from attnviz.figures.capture_axes import MARKED, cols_of, grows_from, rows_of
from attnviz.figures.capture_words import titles, words_of
from attnviz.figures.figure import Figure, Grid, Panel
from attnviz.figures.parts import Part, Request
from attnviz.figures.sinks import with_sinks

STACK_BYTES = 2_000_000
"""Below this, all maps travel at once and switching heads needs no server."""

LONGEST_SIDE = 768
"""Tokens a side of a map that is sent whole; of a longer text an overview is."""

OVERVIEW_SIDE = 512
"""Cells a side, at most, of an overview and of any one part that is asked for: a mebibyte."""


@runtime_checkable
class Maps(Protocol):
    """What this figure needs of a capture; a recorded one has it without torch."""

    @property
    def model_name(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def n_tokens(self) -> int: ...
    @property
    def n_keys(self) -> int: ...
    @property
    def tokens(self) -> Sequence[str]: ...
    @property
    def token_details(self) -> Sequence[str]: ...
    @property
    def special(self) -> Sequence[bool]: ...
    @property
    def captured(self) -> Sequence[Any]: ...
    @property
    def signed(self) -> bool: ...  # effective maps, which are not probabilities
    def weights(
        self, layer: int, head: int, rows: slice | None = None, cols: slice | None = None
    ) -> np.ndarray: ...
    def blocked(
        self, layer: int, rows: slice | None = None, cols: slice | None = None
    ) -> np.ndarray: ...
    def largest(
        self,
        layer: int,
        head: int,
        block: int,
        rows: slice | None = None,
        cols: slice | None = None,
    ) -> tuple[np.ndarray, np.ndarray]: ...
    def tops(self, layer: int, head: int) -> np.ndarray: ...
    def overview(self, size: int = 32) -> np.ndarray: ...
    def metrics(self) -> Any: ...


def layers(capture: Maps) -> tuple[int, ...]:
    """The true indices of the layers that have maps."""
    return tuple(layer.index for layer in capture.captured)


def n_heads(capture: Maps) -> int:
    """Heads of the layer that has most."""
    return max(layer.n_heads for layer in capture.captured)


def shape(capture: Maps) -> tuple[int, int]:
    """Rows and columns of a map as it is drawn, a learned sink beside the keys included."""
    return capture.n_tokens, with_sinks(capture).n_keys


def default_head(capture: Maps) -> tuple[int, int]:
    """The (layer, head) to show first: a focused one that looks past the obvious.

    Of every head, the share of attention that is not on the first token, the previous token or
    the token itself, times how far the head is from spreading evenly. Ties go to the first. Of
    effective maps it is the first head of all.
    """
    if capture.signed:
        return capture.captured[0].index, 0
    frame = capture.metrics().fillna(0.0)  # one token alone has no previous one
    elsewhere = 1 - frame["first"] - frame["previous"] - frame["self"]
    widest = float(frame["entropy"].max()) or 1.0
    best = (elsewhere * (1 - frame["entropy"] / widest)).idxmax()
    return int(frame["layer"][best]), int(frame["head"][best])


def block_of(n_tokens: int) -> int:
    """Cells a side that share one of the map as it is sent first; 1: it is sent whole."""
    block = 1
    while n_tokens > (LONGEST_SIDE if block == 1 else OVERVIEW_SIDE * block):
        block *= 2
    return block


def _alike(capture: Maps) -> bool:
    """Whether all layers have the same heads and mask, so that one hatch serves them all."""
    kinds = {
        (layer.n_heads, layer.n_kv_heads, layer.window, layer.sinks) for layer in capture.captured
    }
    return len(kinds) == 1


def _metric_grids(capture: Maps) -> dict[str, Float32[np.ndarray, "layers heads"]]:
    frame = capture.metrics()
    grids = {}
    for column, title in titles(capture).items():
        if column not in frame or frame[column].isna().all():
            continue  # a text that repeats nothing has no induction score
        table = frame.pivot(index="layer", columns="head", values=column)
        grids[title] = table.to_numpy(np.float32)
    return grids


def whole(capture: Maps, layer: int, head: int) -> Part:
    """One head's map as it is first sent: exact, or of a long text an overview."""
    block = block_of(max(capture.n_tokens, capture.n_keys))
    if block == 1:
        return Part(capture.weights(layer, head), capture.blocked(layer))
    values, blocked = capture.largest(layer, head, block)
    return Part(values, blocked, block=block, tops=capture.tops(layer, head))


def part(capture: Maps, request: Request) -> Part:
    """What a browser asks for: a head's map, or a span of it at some resolution.

    Any client may ask for anything. Raises AttnvizError for a head or span that is not there,
    and for more than OVERVIEW_SIDE**2 cells.
    """
    known = next((one for one in capture.captured if one.index == request.layer), None)
    capture = with_sinks(capture)
    if known is None or not 0 <= request.head < known.n_heads:
        raise AttnvizError(
            f"Layer {request.layer}, head {request.head} has no map; expected layers "
            f"{layers(capture)[0]} to {layers(capture)[-1]} and their heads."
        )
    if request.rows is None or request.cols is None:
        return whole(capture, request.layer, request.head)
    n_rows, n_cols = capture.n_tokens, capture.n_keys
    coarsest = block_of(max(n_rows, n_cols))
    request.check(n_rows, n_cols, coarsest=coarsest, most=OVERVIEW_SIDE)
    rows, cols = slice(*request.rows), slice(*request.cols)
    if request.block == 1:
        values = capture.weights(request.layer, request.head, rows=rows, cols=cols)
        return Part(values, capture.blocked(request.layer, rows=rows, cols=cols))
    return Part(
        *capture.largest(request.layer, request.head, request.block, rows=rows, cols=cols),
        block=request.block,
    )


def capture_figure(capture: Maps, layer: int, head: int) -> Figure:
    """All heads as thumbnails, and the map of one head, exact up to LONGEST_SIDE tokens.

    layer is the true layer index. Of a longer text the map is an overview; part() has the rest.
    """
    indices, heads = layers(capture), n_heads(capture)
    words = words_of(capture)
    norms = getattr(capture, "scale", "weight") == "magnitude"
    rows, cols = rows_of(capture, words["rows"]), cols_of(capture, words["cols"])
    capture = with_sinks(capture)
    n_tokens, n_keys = len(rows.labels), len(cols.labels)
    unit = getattr(capture, "unit", "token")

    stack = None
    if _alike(capture) and len(indices) * heads * n_tokens * n_keys * 4 <= STACK_BYTES:
        stack = np.stack([np.stack([capture.weights(i, h) for h in range(heads)]) for i in indices])
    shown = whole(capture, layer, head)
    before = grows_from(capture)
    said = f"{words['what']}, {n_tokens:,} × {n_keys:,}{words['sums']}"

    return Figure(
        title=capture.model_name,
        alt=(
            f"{words['alt']} of {capture.model_name} on {n_tokens} {unit}s: "
            f"{len(indices)} layers of {heads} heads as small maps, one head large."
        ),
        panels=(
            Panel(
                id="weights",
                title=f"Layer {layer}, head {head}",
                values=shown.values,
                rows=rows,
                cols=cols,
                scale="signed" if capture.signed else "magnitude" if norms else "weight",
                value_name="norm" if norms else "",
                blocked=shown.blocked if shown.blocked.any() else None,
                subtitle=said + ("" if rows.written is None else MARKED),
                block=shown.block,
                tops=shown.tops,
                grows_from=before if before < n_tokens == n_keys and shown.block == 1 else None,
            ),
        ),
        grid=Grid(
            thumbnails=capture.overview(),
            layers=indices,
            metrics=_metric_grids(capture),
            stack=stack,
            kv_heads=capture.captured[0].n_kv_heads if _alike(capture) else None,
            first=(layer, head) if stack is None else None,
        ),
        settings=f"{capture.model_name}, {n_tokens} {unit}s",
        file_stem=f"{capture.model_name}_{words['file']}",
    )

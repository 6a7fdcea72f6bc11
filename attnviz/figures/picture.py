"""A run on a picture's patches -> one query's weights laid over the picture, and Swin's windows."""

from __future__ import annotations

import numpy as np
import torch
from jaxtyping import Bool, Float

import attnviz as av
from attnviz.figures.maps import blocked, map_word
from attnviz.figures.picture_charts import patches_chart, weights_chart
from attnviz.figures.picture_layers import (
    View,
    at,
    outlined,
    picture_chart,
    picture_data,
    picture_layer,
    ruled,
    sides_drawn,
)
from attnviz.figures.vega import Spec
from attnviz.variants.shifted_window import windows_of


def weights_over_picture(
    trace: av.Trace, view: View, *, head: int, query: int, dark: bool = False
) -> Spec:
    """The picture in grey under a square for each patch, coloured by its weight for the query."""
    return weights_chart(
        view,
        trace.weights[0, head, query].detach().double().cpu().numpy(),
        _hidden(trace, head, query),
        trace.key_tokens,
        asking=_asking(trace, query),
        signed=trace.weights_kind == "effective",
        dark=dark,
    )


def patches_of_picture(trace: av.Trace, view: View, *, query: int, dark: bool = False) -> Spec:
    """The picture with its patches, thicker lines round Swin's windows, and the query's patch."""
    near = _windows(trace, view.grid)
    return patches_chart(view, near, asking=_asking(trace, query), dark=dark)


def rolled_picture(trace: av.Trace, view: View, *, query: int, dark: bool = False) -> Spec | None:
    """As Swin computes shifted windows: all rolled by half a window, and what is kept apart.

    Dashed lines run inside windows, between patches that only the rolling made neighbours. None
    where nothing is shifted.
    """
    if trace.options.get("shift") != "half":
        return None
    window, patch = trace.dimensions["window"], view.patch
    reach = [min(window, size) for size in view.grid]
    shift = [M // 2 if size > M else 0 for M, size in zip(reach, view.grid, strict=True)]
    if shift == [0, 0]:
        return None
    rows, columns = (-(-size // M) * M for size, M in zip(view.grid, reach, strict=True))
    padded = (rows, columns)
    canvas = np.full((padded[0] * patch, padded[1] * patch, 3), 128, np.uint8)
    canvas[: view.cut.shape[0], : view.cut.shape[1]] = view.cut
    moved = np.roll(canvas, (-shift[0] * patch, -shift[1] * patch), (0, 1))
    # The wrapped part of an axis is its last `shift` places.
    ends = [size - s for size, s in zip(padded, shift, strict=True)]
    cyclic = np.zeros((2, *padded), bool)
    cyclic[0, :, ends[1] - 1] = shift[1] > 0
    cyclic[1, ends[0] - 1, :] = shift[0] > 0
    thick = np.zeros((2, *padded), bool)
    thick[0, :, reach[1] - 1 :: reach[1]] = True
    thick[1, reach[0] - 1 :: reach[0], :] = True
    row, column = divmod(query, view.grid[1])
    place = ((row - shift[0]) % padded[0], (column - shift[1]) % padded[1])
    layers = [*picture_layer(), ruled("thick", 3), ruled("cyclic", 2, dash=[6, 4]), *outlined()]
    data = {
        "picture": picture_data(moved, patch),
        "thick": sides_drawn(thick, padded),
        "cyclic": sides_drawn(cyclic, padded),
        "asking": [at(*place)],
    }
    return picture_chart("Rolled, as Swin computes it", layers, data, padded, dark)


def _hidden(trace: av.Trace, head: int, query: int) -> Bool[np.ndarray, " keys"]:
    if "masked" in trace.names:
        return (trace["masked"].tensor[0, head, query] == -torch.inf).cpu().numpy()
    mask = blocked(trace)
    return np.zeros(len(trace.key_tokens), bool) if mask is None else mask[query]


def _windows(trace: av.Trace, grid: tuple[int, int]) -> Bool[np.ndarray, "2 rows columns"] | None:
    """Whether a patch is in one window with its right, and with its lower neighbour."""
    if trace.variant != "shifted_window":
        return None
    window, shifted = trace.dimensions["window"], trace.options["shift"] == "half"
    down, along = (windows_of(size, window, shifted).numpy() for size in grid)
    near = np.ones((2, *grid), bool)
    near[0, :, :-1] = (along[1:] == along[:-1])[None]
    near[1, :-1] = (down[1:] == down[:-1])[:, None]
    return near


def _asking(trace: av.Trace, query: int) -> int | None:
    """The query's own patch; object queries have none."""
    return None if av.variants.find(trace.variant).own_queries else query


def in_words(trace: av.Trace, view: View, *, head: int, query: int) -> str:
    """What the weights of the query add up to and where the largest lies."""
    weights: Float[torch.Tensor, " keys"] = trace.weights[0, head, query].double()
    place = int(weights.abs().argmax())
    rows, columns = view.grid
    return (
        f"{trace.query_tokens[query]}, {map_word(trace)} {head}: the largest weight, "
        f"{float(weights[place]):.4f}, is on {trace.key_tokens[place]} (row and column of the "
        f"patch, counted from 0). {rows} × {columns} patches of {view.patch} × {view.patch} "
        f"pixels; their weights add up to {float(weights.sum()):.3g}."
    )

"""A run on a picture's patches -> one query's weights laid over the picture, and Swin's windows."""

from __future__ import annotations

import numpy as np
import torch
from jaxtyping import Bool, Float
from PIL import Image

import attnviz as av
from attnviz.figures import palette
from attnviz.figures.maps import blocked, map_word
from attnviz.figures.picture_layers import (
    LINE,
    View,
    at,
    outlined,
    picture_chart,
    picture_data,
    picture_layer,
    ruled,
    sides,
    sides_drawn,
    square,
)
from attnviz.figures.vega import Spec, number, tip
from attnviz.variants.shifted_window import windows_of


def weights_over_picture(
    trace: av.Trace, view: View, *, head: int, query: int, dark: bool = False
) -> Spec:
    """The picture in grey under a square for each patch, coloured by its weight for the query."""
    weights = trace.weights[0, head, query].detach().double()
    hidden = _hidden(trace, head, query)
    names = trace.key_tokens
    squares = [
        square(view, patch) | {"weight": float(weight), "patch": names[patch]}
        for patch, weight in enumerate(weights)
        if not hidden[patch]
    ]
    hatch = [square(view, patch) for patch in np.flatnonzero(hidden).tolist()]
    most = float(weights.abs().max()) or 1.0
    signed = trace.weights_kind == "effective"
    table = palette.diverging(dark) if signed else palette.sequential(dark)
    colours = [f"#{bytes(colour.tolist()).hex()}" for colour in table[:: len(table) // 16]]
    said = "signed weight" if signed else "weight"
    scale = {"range": colours, "interpolate": "rgb", "nice": False}
    colour = number("weight", said, scale=scale, legend={"orient": "bottom"})
    grey = np.asarray(Image.fromarray(view.cut).convert("L").convert("RGB"))
    layers = [
        *picture_layer(),
        {
            "data": {"name": "squares"},
            "mark": {"type": "rect", "opacity": 0.8},
            "encoding": sides()
            | {
                "color": colour,
                "tooltip": [tip("patch", "Patch"), tip("weight", said.capitalize(), ".4f")],
            },
        },
        {  # unseen: the ends of the scale are data, so that another query leaves the chart standing
            "data": {"name": "ends"},
            "mark": {"type": "rect", "opacity": 0},
            "encoding": sides() | {"color": colour},
        },
        {
            "data": {"name": "hatch"},
            "mark": {"type": "rule", "stroke": LINE, "opacity": 0.8},
            "encoding": sides(),
        },
        *outlined(),
    ]
    data = {
        "picture": picture_data(grey, view.grid),
        "squares": squares,
        "hatch": hatch,
        "ends": [at(0, 0) | {"weight": end} for end in (-most if signed else 0.0, most)],
        "asking": _asking(trace, view, query),
    }
    return picture_chart("Where it looks", layers, data, view.grid, dark)


def patches_of_picture(trace: av.Trace, view: View, *, query: int, dark: bool = False) -> Spec:
    """The picture with its patches, thicker lines round Swin's windows, and the query's patch."""
    near = _windows(trace, view.grid)
    data = {
        "picture": picture_data(view.cut, view.grid),
        "thin": sides_drawn(np.ones((2, *view.grid), bool), view.grid),
        "thick": [] if near is None else sides_drawn(~near, view.grid),
        "asking": _asking(trace, view, query),
    }
    layers = [*picture_layer(), ruled("thin", 0.5), ruled("thick", 3), *outlined()]
    return picture_chart("The picture in patches", layers, data, view.grid, dark)


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
        "picture": picture_data(moved, padded),
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


def _asking(trace: av.Trace, view: View, query: int) -> list[dict[str, float]]:
    """The query's own patch; object queries have none."""
    if av.variants.find(trace.variant).own_queries:
        return []
    return [square(view, query)]


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

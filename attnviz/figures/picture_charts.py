"""The charts of a picture in patches: where its patches lie, and one query's weights on them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Float
from PIL import Image

from attnviz.figures import palette
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


def weights_chart(
    view: View,
    weights: Float[np.ndarray, " patches"],
    hidden: Bool[np.ndarray, " patches"],
    names: Sequence[str],
    *,
    asking: int | None,
    signed: bool = False,
    dark: bool = False,
) -> Spec:
    """The picture in grey under a square for each patch, coloured by its weight.

    hidden: patches that the mask forbids, drawn hatched. asking: the patch whose weights they
    are, where it is one.
    """
    squares = [
        square(view, patch) | {"weight": float(weight), "patch": names[patch]}
        for patch, weight in enumerate(weights)
        if not hidden[patch]
    ]
    hatch = [square(view, patch) for patch in np.flatnonzero(hidden).tolist()]
    most = float(np.abs(weights).max()) or 1.0
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
        "picture": picture_data(grey, view.patch),
        "squares": squares,
        "hatch": hatch,
        "ends": [at(0, 0) | {"weight": end} for end in (-most if signed else 0.0, most)],
        "asking": [] if asking is None else [square(view, asking)],
    }
    return picture_chart("Where it looks", layers, data, view.grid, dark)


def patches_chart(
    view: View,
    near: Bool[np.ndarray, "2 rows columns"] | None,
    *,
    asking: int | None,
    dark: bool = False,
) -> Spec:
    """The picture with its patches, thicker lines between windows, and the patch that asks.

    near: whether each patch shares its window with its right, and with its lower neighbour.
    """
    data = {
        "picture": picture_data(view.cut, view.patch),
        "thin": sides_drawn(np.ones((2, *view.grid), bool), view.grid),
        "thick": [] if near is None else sides_drawn(~near, view.grid),
        "asking": [] if asking is None else [square(view, asking)],
    }
    layers = [*picture_layer(), ruled("thin", 0.5), ruled("thick", 3), *outlined()]
    return picture_chart("The picture in patches", layers, data, view.grid, dark)

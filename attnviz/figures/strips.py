"""A linear or state-space layer of a capture -> its gates and its state's size over the text."""

from __future__ import annotations

from typing import Any

import numpy as np

from attnviz.errors import AttnvizError
from attnviz.figures.axes import numbered_axis
from attnviz.figures.figure import Axis, Figure, Panel

PANELS = {
    "decay": ("Kept of the state", "α: 1 forgets nothing; the mean of a head's channels"),
    "strength": ("Write strength", "β, or the step Δ of a state-space layer"),
    "state_norm": ("Norm of the state", "Frobenius norm after the token"),
}


def strips_figure(maps: Any, layer: int) -> Figure:
    """Three panels, a row a head and a column a token, of capture.effective."""
    known = next((one for one in maps.captured if one.index == layer), None)
    if known is None:
        raise AttnvizError(f"Layer {layer} has no state: it is not a linear or state-space layer.")
    heads = [maps.strips(layer, head) for head in range(known.n_heads)]
    rows = numbered_axis("head", "head", known.n_heads)
    panels = []
    for word, (title, how) in PANELS.items():
        values = np.stack([np.asarray(getattr(each, word), dtype=np.float32) for each in heads])
        places = heads[0].places.tolist() if word == "state_norm" else range(len(maps.tokens))
        cols = Axis(
            name="key" if len(places) == len(maps.tokens) else "point",
            title="token",
            labels=tuple(maps.tokens[place] for place in places),
            details=tuple(maps.token_details[place] for place in places),
        )
        panels.append(Panel(word, title, values, rows, cols, "magnitude", subtitle=how))
    return Figure(
        title=f"Gates and state of layer {layer}",
        alt=(
            f"Layer {layer} of {maps.model_name}: decay, write strength and state norm of "
            f"{known.n_heads} heads over {len(maps.tokens)} tokens."
        ),
        panels=tuple(panels),
        settings=f"{maps.model_name}, layer {layer}",
        file_stem=f"{maps.model_name}_layer{layer}_state",
    )

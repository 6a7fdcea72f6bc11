"""What stands along the two sides of a capture's maps: tokens, who says them, who wrote them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from attnviz.figures.figure import Axis
from attnviz.figures.sinks import DETAIL, LABEL, has_sinks

MARKED = "; marked in orange: written by the model"
"""What a subtitle adds where an axis has a written part."""


def rows_of(capture: Any, title: str) -> Axis:
    """The queries; where the model wrote on, each says what was written while it attended so."""
    axis, written = _tokens(capture), getattr(capture, "written", None)
    details = list(axis.details or ())
    if written is not None:
        for place, label in enumerate(written.labels, grows_from(capture) - 1):
            details[place] += f", while predicting {label}"
    return replace(axis, name="query", title=title, details=tuple(details))


def cols_of(capture: Any, title: str) -> Axis:
    """The keys: the same tokens, or in cross-attention what stands on the other side.

    Where a layer has a learned sink, that stands after them.
    """
    keys = getattr(capture, "keys", None)
    axis = (
        _tokens(capture) if keys is None else Axis("", "", keys.labels, keys.details, keys.special)
    )
    if has_sinks(capture):
        details, special = axis.details or (), axis.special or ()
        axis = replace(
            axis,
            labels=(*axis.labels, LABEL),
            details=(*details, DETAIL),
            special=(*special, True),
        )
    return replace(axis, name="key", title=title)


def grows_from(capture: Any) -> int:
    """How many tokens stood there before the first one that the model wrote."""
    written = getattr(capture, "written", None)
    # The last one written has no row.
    return len(capture.tokens) - (0 if written is None else len(written) - 1)


def _tokens(capture: Any) -> Axis:
    """The tokens; in a conversation each stretch begins with who says it."""
    roles: Sequence[str] = getattr(capture, "roles", ())
    labels, details = list(capture.tokens), list(capture.token_details)
    for place, role in enumerate(roles):
        details[place] += f", said by {role}"
        if place == 0 or roles[place - 1] != role:
            labels[place] = f"{role} ▸ {labels[place]}"
    special = tuple(bool(flag) for flag in capture.special)
    first = grows_from(capture)
    written = first if first < len(labels) else None
    return Axis("", "", tuple(labels), tuple(details), special=special, written=written)

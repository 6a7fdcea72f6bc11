"""Slices of positions, as a reader gives them."""

from __future__ import annotations

from attnviz.errors import AttnvizError


def forwards(part: slice | None) -> slice:
    """These positions, all of them where none are named; AttnvizError for what runs backwards."""
    if part is None:
        return slice(None)
    if not isinstance(part, slice) or (part.step or 1) < 1:
        raise AttnvizError(f"rows and cols must be slices that run forwards, not {part!r}.")
    return part


def span_of(part: slice | None, length: int) -> slice:
    """The same without a step and with both ends, of so many positions; AttnvizError for none."""
    start, stop, step = forwards(part).indices(length)
    if step != 1 or stop <= start:
        raise AttnvizError(f"rows and cols must be spans of one token at least, not {part!r}.")
    return slice(start, stop)

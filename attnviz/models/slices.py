"""Slices of token positions as callers give them."""

from __future__ import annotations

from attnviz.errors import AttnvizError


def slice_of(part: slice | None) -> slice:
    """This slice, or all; AttnvizError for what does not run forwards."""
    if part is None:
        return slice(None)
    if not isinstance(part, slice) or (part.step or 1) < 1:
        raise AttnvizError(f"rows and cols must be slices that run forwards, not {part!r}.")
    return part


def span_of(part: slice | None, length: int) -> slice:
    """Start and stop of a span within a length; AttnvizError for an empty one."""
    start, stop, step = slice_of(part).indices(length)
    if step != 1 or stop <= start:
        raise AttnvizError(f"rows and cols must be spans of one token at least, not {part!r}.")
    return slice(start, stop)

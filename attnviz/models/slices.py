"""Slices, places and sizes as callers give them, each refusal a sentence."""

from __future__ import annotations

from operator import index

from attnviz.errors import AttnvizError


def slice_of(part: object, length: int) -> slice:
    """The positions within a length that this slice selects, or all of them.

    Its start, stop and step are whole numbers, and it never stops before it starts. AttnvizError
    for what is no slice of whole numbers or runs backwards.
    """
    if part is None:
        return slice(0, length, 1)
    try:
        if not isinstance(part, slice):
            raise TypeError
        given = (part.start, part.stop, part.step)
        edges = [None if edge is None else index(edge) for edge in given]
    except TypeError:
        raise AttnvizError(
            f"rows and cols must be slices of whole numbers, such as slice(0, 8), not {part!r}."
        ) from None
    if edges[2] is not None and edges[2] < 1:
        raise AttnvizError(f"rows and cols must be slices that run forwards, not {part!r}.")
    start, stop, step = slice(*edges).indices(length)
    return slice(start, max(start, stop), step)


def span_of(part: object, length: int) -> slice:
    """Start and stop of a span within a length; AttnvizError for an empty one or one with steps."""
    span = slice_of(part, length)
    if span.step != 1 or span.stop == span.start:
        raise AttnvizError(f"rows and cols must be spans of one token at least, not {part!r}.")
    return slice(span.start, span.stop)


def whole_number(word: str, number: object, low: int | None = None) -> int:
    """This whole number, numpy's too; AttnvizError for another thing or one below low."""
    try:
        value = None if isinstance(number, bool) else index(number)  # type: ignore[arg-type]
    except TypeError:
        value = None
    if value is None or (low is not None and value < low):
        more = "" if low is None else f", {low} or more"
        raise AttnvizError(f"{word} must be a whole number{more}; received {number!r}.")
    return value

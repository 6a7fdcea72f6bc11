"""Whole numbers within bounds, or a sentence."""

from __future__ import annotations

import operator

from attnviz.errors import AttnvizError

LARGEST = 10**15
"""No count on any machine comes near it; beyond it a typed number is a mistake."""
MOST_LAYERS = 10_000
"""Each layer is an entry of a list: ten times as many as any model has."""
MOST_HEADS = 100_000
"""Their divisors are found one by one."""


def whole(name: str, value: object, least: int = 1, most: int = LARGEST) -> int:
    """value as an int of at least `least` and at most `most`; name says what it counts."""
    try:
        number = operator.index(value)  # type: ignore[arg-type]  # refuses 4.0 and "4" on purpose
    except TypeError:
        number = None
    if number is None or isinstance(value, bool):
        raise AttnvizError(f"{name} must be a whole number, not {value!r}.")
    if number < least:
        raise AttnvizError(f"{name} must be at least {least}, not {number:,}.")
    if number > most:
        raise AttnvizError(f"{name} must be at most {most:,}, not {number:,}.")
    return number

"""How long work tells how far it is: a fraction from 0 to 1 and a few words."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[float, str], None]
"""May raise (Cancelled, or Streamlit's own exceptions) to stop the work that calls it."""


def silent(fraction: float, text: str) -> None:
    """What progress is reported to when nobody watches."""


def part(report: Progress, start: float, end: float) -> Progress:
    """The progress of one part of the work, which runs from start to end of the whole."""
    return lambda fraction, text: report(start + (end - start) * fraction, text)

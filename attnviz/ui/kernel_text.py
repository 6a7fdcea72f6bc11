"""A convolution kernel typed in one line: rows of numbers, with semicolons between them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from attnviz.errors import AttnvizError

MOST_ROWS, MOST_COLUMNS, MOST = 16, 31, 1000.0
HELP = (
    "A row for each query, the last one the query itself and above it those before; in each row a "
    "number for each key, the middle one the own. 0 0 0; 0 1 0 changes nothing, 0 0 0; 1 0 0 moves "
    "the map. Empty: a kernel for each head, drawn from the seed."
)


def rows_of(text: str) -> list[list[float]]:
    """The kernel's numbers. Raises AttnvizError for what is none."""
    try:
        rows = [[float(word) for word in row.replace(",", " ").split()] for row in text.split(";")]
    except ValueError:
        raise AttnvizError(
            "The kernel must be numbers with spaces between them, and rows with semicolons, as in "
            "0 0 0; 0 1 0."
        ) from None
    widths = {len(row) for row in rows}
    if len(widths) != 1 or len(rows) > MOST_ROWS or not 0 < max(widths) <= MOST_COLUMNS:
        raise AttnvizError(
            f"The kernel must have rows of one length, at most {MOST_ROWS} rows of {MOST_COLUMNS} "
            f"numbers; received rows of {', '.join(str(len(row)) for row in rows[:20])}."
        )
    if not all(math.isfinite(number) and abs(number) <= MOST for row in rows for number in row):
        raise AttnvizError(f"The kernel's numbers must lie between -{MOST:g} and {MOST:g}.")
    return rows


def options(text: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """What a run is given for it: the kernel wherever it convolves, and the windows it spans."""
    if not text.strip():
        return {}
    rows, place = rows_of(text), given.get("convolution", "before")
    places = {"both": ("before", "after"), "none": ()}.get(place, (place,))
    return {
        "query_window": len(rows),
        "key_window": len(rows[0]),
        "parameters": {f"kernel_{word}": rows for word in places},
    }

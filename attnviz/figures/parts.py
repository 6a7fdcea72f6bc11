"""What a browser may ask of a map that it does not hold, and what it gets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float32

from attnviz.errors import AttnvizError

Span = tuple[int, int]
"""(first position, the one after the last)."""


@dataclass(frozen=True)
class Request:
    """A head's map as it is first shown, or a span of it with block x block cells in one."""

    layer: int  # true layer index
    head: int
    rows: Span | None = None  # None, as are the columns: the whole map
    cols: Span | None = None
    block: int = 1

    def check(self, n_rows: int, n_cols: int, *, coarsest: int, most: int) -> None:
        """Raise AttnvizError unless both spans lie in a map of n_rows x n_cols, and the answer has
        at most most x most cells, with fewer than coarsest cells a side in each."""
        given = ((self.rows, n_rows), (self.cols, n_cols))
        spans = [span for span, _ in given if span is not None]
        if any(span is not None and not 0 <= span[0] < span[1] <= n for span, n in given):
            raise AttnvizError(
                f"Rows {self.rows} and columns {self.cols} were asked for; expected spans of "
                f"rows 0 to {n_rows - 1} and columns 0 to {n_cols - 1}."
            )
        if self.block != 1 and not 1 < self.block < coarsest:
            raise AttnvizError(
                f"Blocks of {self.block} were asked for; expected 1, or fewer than {coarsest}."
            )
        cells = 1
        for start, stop in spans:
            cells *= -(-(stop - start) // self.block)
        if cells > most**2:
            raise AttnvizError(
                f"{cells:,} cells were asked for at once; expected at most {most**2:,}."
            )


@dataclass(frozen=True)
class Part:
    """The numbers asked for. blocked: all of the block is masked. tops: as a Panel has them."""

    values: Float32[np.ndarray, "down across"]
    blocked: Bool[np.ndarray, "down across"]
    block: int = 1
    tops: Float32[np.ndarray, " rows"] | None = None


Source = Callable[[Request], Part]
"""Answers a browser's requests; raises AttnvizError for what it cannot give."""


def request_of(said: Any) -> Request | None:
    """The request in a client's words; None where they are not one. Ranges are the source's."""
    if not isinstance(said, Mapping):
        return None
    layer, head, block = (said.get(name) for name in ("layer", "head", "block"))
    if any(type(number) is not int for number in (layer, head, block)):
        return None
    if said.get("rows") is None and said.get("cols") is None:
        return Request(layer, head)  # type: ignore[arg-type]
    rows, cols = _span(said.get("rows")), _span(said.get("cols"))
    if rows is None or cols is None:
        return None
    return Request(layer, head, rows, cols, block)  # type: ignore[arg-type]


def _span(said: Any) -> Span | None:
    if not isinstance(said, list | tuple) or [type(number) for number in said] != [int, int]:
        return None
    return said[0], said[1]

"""Dilated sliding window: a window with gaps, which sees further with as many keys.

Beltagy et al. 2020, Longformer, section 3.1.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from attnviz.errors import AttnvizError
from attnviz.masks.mask import Grid, Mask, whole


@dataclass(frozen=True, repr=False)
class DilatedWindow(Mask):
    window: int
    dilation: int

    @property
    def name(self) -> str:
        return f"sliding window {self.window}, dilated by {self.dilation}"

    def __repr__(self) -> str:
        return f"dilated_window({self.window}, {self.dilation})"

    def rule(self, at: Grid) -> Tensor:
        everything = at.n_queries + at.n_keys
        distance = (at.query() - at.key).abs()
        dilation = min(self.dilation, everything)
        return (distance % dilation == 0) & (distance < min(self.window * dilation, everything))


def dilated_window(window: int, dilation: int) -> Mask:
    """Keys at the distances 0, d, 2 d, .., (window - 1) d with d = dilation.

    Dilation 1 is `sliding_window(window)`. Joined with `causal()`, query i sees `window` keys.
    """
    window, dilation = whole("The window", window), whole("The dilation", dilation)
    if window < 1:
        raise AttnvizError(
            f"A sliding window holds at least 1 key, the query's own; received {window}."
        )
    if dilation < 1:
        raise AttnvizError(
            f"The dilation, from one key to the next, is 1 or more; received {dilation}."
        )
    return DilatedWindow(window, dilation)

"""Sliding window: a query sees only keys near it (Beltagy et al. 2020; Jiang et al. 2023)."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from attnviz.errors import AttnvizError
from attnviz.masks.mask import Align, Grid, Mask, whole


@dataclass(frozen=True, repr=False)
class SlidingWindow(Mask):
    window: int
    align: Align = "start"

    @property
    def name(self) -> str:
        return f"sliding window {self.window}"

    def __repr__(self) -> str:
        return (
            f"sliding_window({self.window})"
            if self.align == "start"
            else f"sliding_window({self.window}, 'end')"
        )

    def rule(self, at: Grid) -> Tensor:
        return (at.query(self.align) - at.key).abs() < min(self.window, at.n_queries + at.n_keys)


def sliding_window(window: int, align: Align = "start") -> Mask:
    """Keys at a distance below `window`, counted in keys with the query's own among them.

    Joined with `causal()`, query i sees the `window` keys i - window < j <= i: the meaning of
    `sliding_window` in transformers' decoders (Mistral, Gemma), and of flash-attention's
    `window_size=(window - 1, 0)`. On its own it looks both ways and shows 2 * window - 1 keys.
    Libraries count differently there: transformers' bidirectional window w spans 2w + 1 keys
    (ours of w + 1) and attention-gym's causal one w + 1 keys.
    """
    window = whole("The window", window)
    if window < 1:
        raise AttnvizError(
            f"A sliding window holds at least 1 key, the query's own; received {window}."
        )
    if align not in ("start", "end"):
        raise AttnvizError(f"align must be 'start' or 'end'; received {align!r}.")
    return SlidingWindow(window, align)

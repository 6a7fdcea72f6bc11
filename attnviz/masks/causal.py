"""Causal: a query sees itself and what came before (Vaswani et al. 2017, section 3.2.3)."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from attnviz.errors import AttnvizError
from attnviz.masks.mask import Align, Grid, Mask


@dataclass(frozen=True, repr=False)
class Causal(Mask):
    align: Align = "start"

    @property
    def name(self) -> str:
        return "causal" if self.align == "start" else "causal, end-aligned"

    def __repr__(self) -> str:
        return "causal()" if self.align == "start" else "causal('end')"

    def rule(self, at: Grid) -> Tensor:
        return at.key <= at.query(self.align)


def causal(align: Align = "start") -> Mask:
    """Keys j <= i of query i.

    With unequal lengths, align="start" puts query 0 at key 0 (top left, as
    `scaled_dot_product_attention(is_causal=True)` does) and align="end" puts the last query at
    the last key (bottom right, as decoding with a cache needs). With more queries than keys the
    end-aligned form leaves the first rows empty.
    """
    if align not in ("start", "end"):
        raise AttnvizError(f"align must be 'start' or 'end'; received {align!r}.")
    return Causal(align)

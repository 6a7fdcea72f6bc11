"""Prefix: the first keys are open to everyone (UniLM, Dong et al. 2019; T5, Raffel et al. 2020)."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from attnviz.errors import AttnvizError
from attnviz.masks.mask import Grid, Mask, whole


@dataclass(frozen=True, repr=False)
class Prefix(Mask):
    length: int

    @property
    def name(self) -> str:
        return f"prefix {self.length}"

    def __repr__(self) -> str:
        return f"prefix({self.length})"

    def rule(self, at: Grid) -> Tensor:
        return at.key < min(self.length, at.n_keys)


def prefix(length: int) -> Mask:
    """Keys j < length, for every query.

    `causal() | prefix(p)` is the prefix language model: the prompt sees itself both ways, the
    rest is written left to right. `causal() & sliding_window(w) | causal() & prefix(p)` keeps p
    sink tokens in view of a window (StreamingLLM, Xiao et al. 2023).
    """
    length = whole("The prefix", length)
    if length < 0:
        raise AttnvizError(f"A prefix holds 0 keys or more; received {length}.")
    return Prefix(length)

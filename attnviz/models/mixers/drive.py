"""What gives the effective maps of some heads of one layer, as a capture keeps it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import ClassVar

import torch
from jaxtyping import Float, Int
from torch import Tensor


@dataclass(frozen=True)
class Strips:
    """What one head does with its state, token by token."""

    decay: Float[Tensor, " length"]  # what is kept, from 0 to 1; the mean of a head's channels
    strength: Float[Tensor, " length"]  # beta, Mamba's step, or the share that a token takes
    places: Int[Tensor, " points"]  # tokens after which the state is measured
    state_norm: Float[Tensor, " points"]  # Frobenius


@dataclass(frozen=True)
class Drive(ABC):
    """One text's tensors, kept in the model's dtype; worked with in float32 at least."""

    value: Float[Tensor, "heads length d_v"]

    says: ClassVar[str]  # what the maps are, in words for beside the picture
    nature: ClassVar[str] = "signed"  # or shares: rows sum to 1; waves: no state, a sum of heads
    causal: ClassVar[bool] = True
    kind: str = "linear"

    @property
    def n_heads(self) -> int:
        return self.value.shape[0]

    @property
    def n_groups(self) -> int:
        """Keys that heads do not share."""
        return self.n_heads

    @property
    def length(self) -> int:
        return self.value.shape[1]

    @abstractmethod
    def tile(
        self, heads: slice, rows: Int[Tensor, " rows"], cols: Int[Tensor, " cols"]
    ) -> Float[Tensor, "heads rows cols"]:
        """A[rows, cols] of these heads; positions ascend."""

    @abstractmethod
    def pooled(
        self, heads: slice, bins: Int[Tensor, " length"], size: int
    ) -> Float[Tensor, "heads size size"]:
        """The mean of each block of A, cells above the diagonal counting as 0 where causal."""

    @abstractmethod
    def strips(self, head: int, chunk: int) -> Strips:
        """Gates and state of one head, the state's norm after every so many tokens."""

    def tensors(self) -> tuple[Tensor, ...]:
        kept = (getattr(self, field.name) for field in fields(self))
        return tuple(each for each in kept if isinstance(each, Tensor))

    def mapped(self, change: Callable[[Tensor], Tensor]) -> Drive:
        """The same with every tensor put through a function: moved, or kept in a file."""
        changed = {
            field.name: change(value)
            for field in fields(self)
            if isinstance(value := getattr(self, field.name), Tensor)
        }
        return replace(self, **changed)


def averaging(
    bins: Int[Tensor, " length"], size: int, like: Tensor
) -> Float[Tensor, "length size"]:
    """P, whose product P^T A P holds the mean of each block of A."""
    P = torch.zeros(len(bins), size, dtype=like.dtype, device=like.device)
    P[torch.arange(len(bins), device=P.device), bins] = 1.0
    return P / P.sum(0)

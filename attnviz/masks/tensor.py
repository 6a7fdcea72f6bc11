"""A mask that someone drew: a boolean tensor joined into the algebra."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from attnviz.errors import AttnvizError
from attnviz.masks.mask import Grid, Mask


@dataclass(frozen=True, eq=False, repr=False)
class FromTensor(Mask):
    tensor: Tensor  # (#B, #H, Tq, Tk)
    label: str = "custom"

    @property
    def name(self) -> str:
        return self.label

    def __repr__(self) -> str:
        return f"from_tensor(<bool {tuple(self.tensor.shape)}>, {self.label!r})"

    def rule(self, at: Grid) -> Tensor:
        if self.tensor.shape[2:] != (at.n_queries, at.n_keys):
            raise AttnvizError(
                f"The mask '{self.label}' is for {self.tensor.shape[2]} queries and "
                f"{self.tensor.shape[3]} keys; expected {at.n_queries} queries and {at.n_keys} "
                f"keys."
            )
        return self.tensor.to(at.device) if at.device is not None else self.tensor


def four_axes(mask: Tensor) -> Tensor:
    """(Tq, Tk), (B, Tq, Tk) or (B, H, Tq, Tk), True = allowed, as four axes.

    A three-dimensional mask is one per example, never one per head: left to broadcasting, it would
    be read as one per head, and wrongly but silently so when B equals H.
    """
    if not isinstance(mask, Tensor):
        raise AttnvizError(
            f"A mask must be a boolean torch tensor; received {type(mask).__name__}: convert it "
            f"with torch.as_tensor."
        )
    if mask.dtype != torch.bool:
        raise AttnvizError(
            f"A mask must be boolean with True for allowed; received {mask.dtype}. Convert numbers "
            f"with masks.from_zero_one (1 allows) or masks.from_additive (0 allows, -inf blocks)."
        )
    if mask.ndim == 2:
        return mask[None, None]
    if mask.ndim == 3:
        return mask[:, None]
    if mask.ndim == 4:
        return mask
    raise AttnvizError(
        f"A mask must be (queries, keys), (batch, queries, keys) or (batch, heads, queries, keys); "
        f"received shape {tuple(mask.shape)}."
    )


def from_tensor(mask: Tensor, name: str = "custom") -> Mask:
    """A mask from a boolean tensor: (Tq, Tk), (B, Tq, Tk) or (B, H, Tq, Tk), True = allowed."""
    return FromTensor(four_axes(mask), name)

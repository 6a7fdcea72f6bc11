"""Padding: hide the filler keys that make sequences of a batch equally long."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from attnviz.errors import AttnvizError
from attnviz.masks.mask import Grid, Mask, whole

Side = Literal["right", "left"]


@dataclass(frozen=True, repr=False)
class Padding(Mask):
    lengths: tuple[int, ...]
    side: Side = "right"

    @property
    def name(self) -> str:
        shown = ", ".join(str(length) for length in self.lengths)
        return f"padding to {shown}" if self.side == "right" else f"left padding to {shown}"

    def __repr__(self) -> str:
        return (
            f"padding({list(self.lengths)})"
            if self.side == "right"
            else f"padding({list(self.lengths)}, 'left')"
        )

    def rule(self, at: Grid) -> Tensor:
        if max(self.lengths) > at.n_keys:
            raise AttnvizError(
                f"Padding lengths must be at most the number of keys, {at.n_keys}; received "
                f"{max(self.lengths)}."
            )
        lengths = torch.tensor(self.lengths, device=at.device).view(-1, 1, 1, 1)  # (B, 1, 1, 1)
        return at.key < lengths if self.side == "right" else at.key >= at.n_keys - lengths


def padding(lengths: Sequence[int], side: Side = "right") -> Mask:
    """The first lengths[b] keys of example b (side="right": filler comes last), for every query.

    It hides keys, not queries: the filler's own rows still have weights, which nobody reads. With
    side="left" the last lengths[b] keys are the real ones; joined with causal() the filler's rows
    are then empty.
    """
    if isinstance(lengths, str) or not isinstance(lengths, Iterable):
        raise AttnvizError(
            f"Padding needs a list with one length for each example; received {lengths!r}."
        )
    lengths = tuple(whole("Each padding length", length) for length in lengths)
    if not lengths:
        raise AttnvizError("Padding needs one length per example; received none.")
    if min(lengths) < 0:
        raise AttnvizError(f"Padding lengths must be 0 or more; received {min(lengths)}.")
    if side not in ("right", "left"):
        raise AttnvizError(f"side must be 'right' or 'left'; received {side!r}.")
    return Padding(lengths, side)

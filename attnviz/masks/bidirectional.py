"""Bidirectional: every query sees every key, as in an encoder (BERT, Devlin et al. 2018)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from attnviz.masks.mask import Grid, Mask


@dataclass(frozen=True, repr=False)
class Bidirectional(Mask):
    @property
    def name(self) -> str:
        return "bidirectional"

    def __repr__(self) -> str:
        return "bidirectional()"

    def rule(self, at: Grid) -> Tensor:
        return torch.ones(1, 1, dtype=torch.bool, device=at.device)


def bidirectional() -> Mask:
    """Nothing is hidden: the neutral element of `&`."""
    return Bidirectional()

"""FNet's Fourier transform in the place of attention, as maps of tokens by tokens.

Lee-Thorp et al. 2022, FNet (arXiv:2105.03824), section 3.2: y = Re(F_seq Z) with Z = F_hidden x.
With F_seq = C - iS that is C Re(Z) + S Im(Z): two maps that no text changes, of the cosines
C[i, j] = cos(2 pi i j / T) and the sines S[i, j] = sin(2 pi i j / T).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Float, Int
from torch import Tensor

from attnviz.errors import ModelError
from attnviz.models.mixers.drive import Drive, Strips, averaging
from attnviz.models.mixers.tiles import CELLS


@dataclass(frozen=True)
class FourierDrive(Drive):
    """value is (Re Z, Im Z), of which the first head reads the one and the second the other."""

    says: ClassVar[str] = (
        "head 0 holds the cosines and head 1 the sines of a Fourier transform over positions, "
        "exact and signed; they are the same for every text of this length. The layer's output is "
        "head 0 times the real part plus head 1 times the imaginary part of the values' own "
        "transform over features."
    )
    nature: ClassVar[str] = "waves"
    causal: ClassVar[bool] = False

    def tile(
        self, heads: slice, rows: Int[Tensor, " rows"], cols: Int[Tensor, " cols"]
    ) -> Float[Tensor, "heads rows cols"]:
        angle = (rows[:, None] * cols % self.length) * (2 * math.pi / self.length)
        waves = (torch.cos, torch.sin)[heads]
        return torch.stack([wave(angle) for wave in waves])

    def pooled(
        self, heads: slice, bins: Int[Tensor, " length"], size: int
    ) -> Float[Tensor, "heads size size"]:
        everything = torch.arange(self.length)
        P = averaging(bins, size, torch.empty(0))
        parts = [
            P[some].mT @ (self.tile(heads, some, everything) @ P)
            for some in everything.split(max(1, CELLS // self.length))
        ]
        return torch.stack(parts).sum(0)

    def strips(self, head: int, chunk: int) -> Strips:
        raise ModelError("A Fourier transform keeps no state, so it has no gates to show.")


def fourier(hidden: Float[Tensor, "1 length hidden"]) -> FourierDrive:
    """The drive of a layer, from what it is given."""
    Z = torch.fft.fft(hidden[0].float(), dim=-1)
    return FourierDrive(torch.stack([Z.real, Z.imag]))

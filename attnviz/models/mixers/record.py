"""What a capture keeps of one linear or state-space layer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from attnviz.models.layer import Layer
from attnviz.models.mixers.drive import Drive
from attnviz.models.mixers.tiles import pooled, state_norms, tile

POINTS = 256  # of a strip of state norms
AT_ONCE = 64  # heads pooled at once; a Mamba layer has thousands, one a channel


@dataclass(frozen=True)
class Strips:
    """What one head does with its state, token by token."""

    decay: Float[Tensor, " length"]  # what is kept, from 0 to 1; the mean of a head's channels
    strength: Float[Tensor, " length"]  # beta, or Mamba's step
    places: Int[Tensor, " points"]  # tokens after which the state is measured
    state_norm: Float[Tensor, " points"]  # Frobenius


@dataclass(frozen=True)
class MixerRecord:
    """The drives of one layer; its heads are theirs in order."""

    layer: Layer
    drives: tuple[Drive, ...]

    @property
    def n_heads(self) -> int:
        return sum(drive.n_heads for drive in self.drives)

    @property
    def length(self) -> int:
        return self.drives[0].query.shape[1]

    def tensors(self) -> tuple[Tensor, ...]:
        return tuple(tensor for drive in self.drives for tensor in drive.tensors())

    def weights(self, heads: slice, rows: slice, cols: slice) -> Float[Tensor, "heads rows cols"]:
        """The exact effective map of these heads, tokens that read and tokens that wrote."""
        i, j = (torch.arange(*part.indices(self.length)) for part in (rows, cols))
        return torch.cat([tile(d.recurrence(some), i, j) for d, some in self._of(heads)])

    def blocked(self, rows: slice, cols: slice) -> Bool[Tensor, "rows cols"]:
        """True above the diagonal: a state holds the past only."""
        i, j = (torch.arange(*part.indices(self.length)) for part in (rows, cols))
        return j > i[:, None]

    def pooled(self, size: int, n_heads: int) -> Float[Tensor, "heads size size"]:
        """The first heads' maps at a glance, each cell the mean of its block."""
        size = min(size, self.length)
        bins = torch.arange(self.length) * size // self.length
        parts = [
            pooled(drive.recurrence(slice(start, min(start + AT_ONCE, some.stop))), bins, size)
            for drive, some in self._of(slice(0, n_heads))
            for start in range(some.start, some.stop, AT_ONCE)
        ]
        return torch.cat(parts)

    def strips(self, head: int) -> Strips:
        """Gates and state of one head."""
        drive, some = next(self._of(slice(head, head + 1)))
        r = drive.recurrence(some)
        places, norms = state_norms(r, max(1, -(-self.length // POINTS)))
        return Strips(
            decay=r.log_decay[0, 0].exp().mean(-1),
            strength=r.strength[0, 0],
            places=places,
            state_norm=norms[0],
        )

    def _of(self, heads: slice) -> Iterator[tuple[Drive, slice]]:
        """Each drive that has any of these heads, and its own numbers for them."""
        start, stop, _ = heads.indices(self.n_heads)
        first = 0
        for drive in self.drives:
            low, high = max(start - first, 0), min(stop - first, drive.n_heads)
            if low < high:
                yield drive, slice(low, high)
            first += drive.n_heads

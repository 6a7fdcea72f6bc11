"""What a capture keeps of one linear or state-space layer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attnviz.models.layer import Layer
from attnviz.models.mixers.drive import Drive, Strips

POINTS = 256  # of a strip of state norms
AT_ONCE = 64  # heads pooled at once; a Mamba layer has thousands, one a channel


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
        return self.drives[0].length

    @property
    def causal(self) -> bool:
        return self.drives[0].causal

    def tensors(self) -> tuple[Tensor, ...]:
        return tuple(tensor for drive in self.drives for tensor in drive.tensors())

    def weights(self, heads: slice, rows: slice, cols: slice) -> Float[Tensor, "heads rows cols"]:
        """The exact effective map of these heads, tokens that read and tokens that wrote."""
        i, j = (torch.arange(*part.indices(self.length)) for part in (rows, cols))
        return torch.cat([drive.tile(some, i, j) for drive, some in self._of(heads)])

    def blocked(self, rows: slice, cols: slice) -> Bool[Tensor, "rows cols"]:
        """True above the diagonal where a state holds the past only."""
        i, j = (torch.arange(*part.indices(self.length)) for part in (rows, cols))
        return (j > i[:, None]) & self.causal

    def pooled(self, size: int, n_heads: int) -> Float[Tensor, "heads size size"]:
        """The first heads' maps at a glance, each cell the mean of its block."""
        size = min(size, self.length)
        bins = torch.arange(self.length) * size // self.length
        parts = [
            drive.pooled(slice(start, min(start + AT_ONCE, some.stop)), bins, size)
            for drive, some in self._of(slice(0, n_heads))
            for start in range(some.start, some.stop, AT_ONCE)
        ]
        return torch.cat(parts)

    def strips(self, head: int) -> Strips:
        """Gates and state of one head."""
        drive, some = next(self._of(slice(head, head + 1)))
        return drive.strips(some.start, max(1, -(-self.length // POINTS)))

    def _of(self, heads: slice) -> Iterator[tuple[Drive, slice]]:
        """Each drive that has any of these heads, and its own numbers for them."""
        start, stop, _ = heads.indices(self.n_heads)
        first = 0
        for drive in self.drives:
            low, high = max(start - first, 0), min(stop - first, drive.n_heads)
            if low < high:
                yield drive, slice(low, high)
            first += drive.n_heads

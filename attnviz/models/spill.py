"""Queries and keys of a long text: in memory up to a budget, in a mapped file beyond it."""

from __future__ import annotations

import tempfile
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor

from attnviz.models.layers import LayerRecord
from attnviz.settings import settings

GIB = 2**30


class Spill:
    """What one run keeps. The budget is ATTNVIZ_SPILL_GIB unless given."""

    def __init__(self, budget: int | None = None) -> None:
        self._left = int(settings().spill_gib * GIB) if budget is None else budget

    def keep(self, tensor: Tensor) -> Tensor:
        """The tensor while the budget lasts, then its copy in a file of the cache folder.

        The file has no name once it is mapped, so it goes when the tensor does, even if the
        process is killed.
        """
        if tensor.nbytes <= self._left:
            self._left -= tensor.nbytes
            return tensor
        folder = settings().cache_dir / "spilled"
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder, delete=False) as file:
            file.truncate(tensor.nbytes)
        mapped = torch.from_file(
            file.name, shared=True, size=tensor.numel(), dtype=tensor.dtype
        ).view(tensor.shape)
        with suppress(OSError):  # where a mapped file cannot be unlinked, it stays
            Path(file.name).unlink()
        return mapped.copy_(tensor)

    def record(self, record: LayerRecord) -> LayerRecord:
        """An attention layer's record on the CPU, its queries and keys kept."""
        own = record.to("cpu")
        return replace(own, queries=self.keep(own.queries), keys=self.keep(own.keys))

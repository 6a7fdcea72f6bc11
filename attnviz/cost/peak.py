"""Peak memory of a computation: tensors alive at the same time, counted operation by operation."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


def peak_bytes(compute: Callable[[], object], place: torch.device) -> int:
    """The most bytes that tensors made by `compute` held at once, its result included.

    On CUDA the allocator's own count. Elsewhere every operation's results are followed until they
    are freed; what a kernel needs inside itself is not seen.
    """
    if place.type == "cuda":
        torch.cuda.synchronize(place)
        torch.cuda.reset_peak_memory_stats(place)
        before = torch.cuda.memory_allocated(place)
        compute()
        torch.cuda.synchronize(place)
        return torch.cuda.max_memory_allocated(place) - before
    with _Following() as following:
        compute()
    return following.most


class _Following(TorchDispatchMode):
    """Adds what each operation's results hold, and takes it off when the last view is gone."""

    def __init__(self) -> None:
        super().__init__()
        self.most = 0
        self._now = 0
        self._alive: dict[int, weakref.finalize] = {}

    def __torch_dispatch__(
        self,
        func: Callable[..., Any],
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        kwargs = kwargs or {}
        given = {_address(leaf) for leaf in tree_leaves((args, kwargs)) if _is_tensor(leaf)}
        made = func(*args, **kwargs)
        for leaf in tree_leaves(made):
            if _is_tensor(leaf) and _address(leaf) not in given:
                self._follow(leaf.untyped_storage())
        return made

    def _follow(self, storage: torch.UntypedStorage) -> None:
        address, size = storage.data_ptr(), storage.nbytes()
        known = self._alive.get(address)
        if size == 0 or (known is not None and known.alive):
            return
        self._now += size
        self.most = max(self.most, self._now)
        self._alive[address] = weakref.finalize(storage, self._freed, size)

    def _freed(self, size: int) -> None:
        self._now -= size


def _is_tensor(leaf: object) -> bool:
    return isinstance(leaf, torch.Tensor)


def _address(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage().data_ptr()

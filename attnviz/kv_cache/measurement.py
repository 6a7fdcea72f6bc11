"""The bytes of a cache that exists: its tensors, found wherever the object keeps them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

_ATOMS = (str, bytes, int, float, bool, type(None))


@dataclass(frozen=True)
class Measured:
    """nominal_bytes: elements times their width. held_bytes: the memory kept alive, which is more
    where a tensor is a view of a larger one (transformers' windows right after the prompt)."""

    nominal_bytes: int
    held_bytes: int
    shapes: tuple[tuple[int, ...], ...]


def measure(cache: Any) -> Measured:
    """Walk a cache object's tensors, whatever its class, each storage counted once.

    A tensor without dimensions is a counter kept beside the cache and is left out. None (an
    encoder returns no cache) is 0 bytes.
    """
    tensors = [tensor for tensor in _tensors(cache, set()) if tensor.ndim]
    held = {
        (tensor.device, tensor.untyped_storage()._cdata): tensor.untyped_storage().nbytes()
        for tensor in tensors
    }
    return Measured(
        nominal_bytes=sum(tensor.numel() * tensor.element_size() for tensor in tensors),
        held_bytes=sum(held.values()),
        shapes=tuple(tuple(tensor.shape) for tensor in tensors),
    )


def _tensors(item: Any, seen: set[int]) -> Iterator[Any]:
    if isinstance(item, _ATOMS) or id(item) in seen:
        return
    seen.add(id(item))
    if hasattr(item, "untyped_storage"):
        yield item
        return
    if isinstance(item, Mapping):
        children: Any = item.values()
    elif isinstance(item, (list, tuple, set)):
        children = item
    else:
        children = getattr(item, "__dict__", {}).values()
    for child in children:
        yield from _tensors(child, seen)

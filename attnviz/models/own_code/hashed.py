"""Reformer: attention within chunks of a text, as it stands or sorted into buckets by hashes.

Kitaev et al. 2020, Reformer (arXiv:2001.04451), section 2. A layer sorts its tokens by the bucket
that random rotations put them into, and attends within chunks of the sorted text; of several
rounds of hashing each is a softmax of its own, weighed by its share of the sum of exponentials
(equation 6), so that a key's weight is the sum over the rounds. Where a chunk stands twice among
the keys (a short text, chunks before and after), its weights add up too.

A token reads itself only where it has no other key, by a score of -100,000. Numbers of that size
are 2^-7 apart in float32, so that what the library makes of several of them is up to 0.4 % off 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from attnviz.models.own_code.returned import Found

ROUNDED = 4e-3
NOTE = (
    "Tokens are compared within chunks, of the text or of the text sorted by random hashes, which "
    "are drawn with one seed here; a key in no chunk of the query's has weight 0."
)


def hashed(model: Any, prepared: Any, outputs: Any, heard: Any) -> list[Found]:
    """Every layer's maps, without the padding to whole chunks."""
    n = prepared.length
    return [
        Found(raw.group, raw.index or 0, raw.weights[0][:, :n, :n], note=NOTE, row_limit=ROUNDED)
        for raw in heard.raw
    ]


@contextmanager
def hearing(model: nn.Module, keep: Callable[[nn.Module, Tensor], None]) -> Iterator[None]:
    """Tell keep of every layer's maps over the padded text, for the body of a with.

    The model has to return its attentions. Hold its lock.
    """
    handles, wrapped = [], []

    def local(module: Any, args: Any, output: Any) -> None:
        probs = output.attention_probs[0]  # (H, T, T) of a short text, else (H, chunks, side, seen)
        if probs.ndim == 3:
            keep(module, probs[None])
            return
        places = torch.arange(probs.shape[1] * probs.shape[2], device=probs.device)
        keep(module, _unsorted(module, probs, places.expand(len(probs), -1))[None])

    def attending(module: Any, attend: Callable[..., Any]) -> Callable[..., Any]:
        def attend_and_tell(**call: Any) -> Any:
            _, logits, probs = out = attend(**call)
            if call["do_standard_self_attention"]:
                keep(module, probs)
            else:
                places = call["sorted_bucket_idx_per_hash"][0]  # (H, rounds * T)
                share = _shares(logits[0], places)
                keep(module, _unsorted(module, probs[0], places, share)[None])
            return out

        return attend_and_tell

    try:
        for module in model.modules():
            if type(module).__name__ == "LocalSelfAttention":
                handles.append(module.register_forward_hook(local))
            elif type(module).__name__ == "LSHSelfAttention":
                lsh: Any = module
                vars(module)["_attend"] = attending(lsh, lsh._attend)
                wrapped.append(module)
        yield
    finally:
        for handle in handles:
            handle.remove()
        for module in wrapped:
            del vars(module)["_attend"]


def _shares(
    logits: Float[Tensor, "heads sorted"], places: Int[Tensor, "heads sorted"]
) -> Float[Tensor, "heads sorted"]:
    """How much each round counts for each of its queries: a softmax over the rounds."""
    length = int(places.max()) + 1
    rounds = places.unflatten(-1, (-1, length))  # the rounds follow each other, (H, rounds, T)
    by_query = torch.zeros_like(rounds, dtype=logits.dtype)
    by_query.scatter_(2, rounds, logits.unflatten(-1, (-1, length)))
    # No softmax(): that would be heard as one of the model's own.
    return (by_query - by_query.logsumexp(1, keepdim=True)).exp().gather(2, rounds).flatten(1)


def _unsorted(
    module: Any,
    probs: Float[Tensor, "heads chunks side seen"],
    places: Int[Tensor, "heads sorted"],
    share: Float[Tensor, "heads sorted"] | None = None,
) -> Float[Tensor, "heads length length"]:
    """Maps by the tokens' own places, from chunks of tokens that stand in this order."""
    length = int(places.max()) + 1
    queries = places.unflatten(-1, probs.shape[1:3])  # (H, chunks, side)
    keys = module._look_adjacent(queries[None], module.num_chunks_before, module.num_chunks_after)
    cells = queries[..., None] * length + keys[0][:, :, None]  # (H, chunks, side, seen)
    weights = probs if share is None else probs * share.view_as(queries)[..., None]
    maps = weights.new_zeros(len(probs), length * length)
    maps.scatter_add_(1, cells.flatten(1), weights.flatten(1))
    return maps.unflatten(-1, (length, length))


@contextmanager
def steady(model: nn.Module) -> Iterator[None]:
    """Every pass in the body of a with hashes alike, and leaves the model as it was.

    The library draws new rotations for each pass unless the config has a seed (here it is 0
    then), and keeps the number of buckets that the first text asked for.
    """
    layers: list[Any] = [m for m in model.modules() if type(m).__name__ == "LSHSelfAttention"]
    if not layers:
        yield
        return
    before = [(m, m.hash_seed, m.num_buckets, m.config.num_buckets) for m in layers]
    try:
        for module in layers:
            module.hash_seed = None  # it would seed the whole process
        with _Drawn(before[0][1] or 0):
            yield
    finally:
        for module, seed, buckets, known in before:
            module.hash_seed, module.num_buckets, module.config.num_buckets = seed, buckets, known


class _Drawn(TorchFunctionMode):
    """In this thread every torch.randn gives the first numbers of one seed."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._seed = seed

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        if func is torch.randn:
            device = kwargs.get("device") or "cpu"
            kwargs = kwargs | {"generator": torch.Generator(device).manual_seed(self._seed)}
        return func(*args, **kwargs)

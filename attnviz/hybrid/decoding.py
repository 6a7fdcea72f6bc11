"""One token at a time: what each layer keeps, and how long a step takes after a long prefix."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import median

import torch
from jaxtyping import Float
from torch import Tensor

from attnviz import variants
from attnviz.device import device as chosen_device
from attnviz.hybrid.patterns import Pattern
from attnviz.hybrid.stack import choices, normed
from attnviz.models.memory import require
from attnviz.variants.dimensions import sizes_of
from attnviz.variants.heads import attending, join_heads, project_heads
from attnviz.variants.recurrent import options_of
from attnviz.variants.scaling import scaling
from attnviz.variants.softmax import attend_fused
from attnviz.variants.variant import Setup, Tensors


class CachedLayer:
    """Softmax attention that keeps the keys and values of every token (MHA, GQA, MQA)."""

    def __init__(self, W: Tensors, setup: Setup) -> None:
        self.W, self.setup = W, setup
        self.length = 0
        self.room: dict[str, Tensor] = {}  # each (B, G, at least length, d)

    @property
    def kept(self) -> dict[str, Float[Tensor, "batch kv_heads tokens channels"]]:
        """Keys and values of the tokens so far."""
        return {name: room[:, :, : self.length] for name, room in self.room.items()}

    def skip_to(self, length: int, like: Tensor) -> None:
        sizes = self.setup.dimensions
        self.length, self.room = length, {}
        for name, width in (("keys", sizes["head_dim"]), ("values", sizes["v_head_dim"])):
            self.room[name] = like.new_zeros(1, sizes["n_kv_heads"], length + 1, width)

    def __call__(self, x: Float[Tensor, "batch 1 d_model"]) -> Float[Tensor, "batch 1 d_model"]:
        query, key, value = attending(project_heads(x, x, self.W, self.setup))
        self._keep("keys", key)
        self._keep("values", value)
        self.length += 1
        kept = self.kept
        heads = attend_fused(
            query, kept["keys"], kept["values"], allowed=None, scale=self.setup.scale
        )
        return join_heads(heads, self.W)["output"]

    def _keep(self, name: str, new: Tensor) -> None:
        """Write in place; twice the room when it runs out, so that few steps ever copy."""
        room = self.room.get(name)
        if room is None or room.shape[2] == self.length:
            larger = new.new_zeros(*new.shape[:2], 2 * max(1, self.length), new.shape[3])
            if room is not None:
                larger[:, :, : self.length] = room
            self.room[name] = room = larger
        room[:, :, self.length] = new[:, :, 0]


class StateLayer:
    """A recurrent mixer, which keeps its state."""

    def __init__(self, name: str, W: Tensors, setup: Setup) -> None:
        self.variant, self.W, self.setup = variants.find(name), W, setup
        self.kept: dict[str, Tensor] = {}

    def skip_to(self, length: int, like: Tensor) -> None:
        sizes = self.setup.dimensions
        columns = sizes["v_head_dim"] + self.variant.normalised
        shape = (1, sizes["n_heads"], sizes["head_dim"], columns)
        self.kept = {"state": like.new_ones(shape)}  # a normaliser of 0 would divide by 0

    def __call__(self, x: Float[Tensor, "batch 1 d_model"]) -> Float[Tensor, "batch 1 d_model"]:
        setup = replace(self.setup, initial_state=self.kept.get("state"))
        steps = self.variant.fused(x, x, self.W, None, setup)
        self.kept = {"state": steps["state"]}
        return steps["output"]


@dataclass
class Decoder:
    """A stack that reads one token after another, as a model does while it writes.

    Its weights are those of `run` with the same sizes and seed, and so are its outputs.
    """

    layers: list[CachedLayer | StateLayer]

    @classmethod
    def of(
        cls,
        pattern: Pattern,
        d_model: int,
        *,
        n_heads: int = 4,
        n_kv_heads: int | None = None,
        head_dim: int | None = None,
        seed: int = 0,
        dtype: torch.dtype = torch.float32,
        device: str | torch.device | None = None,
    ) -> Decoder:
        place = chosen_device(device)
        layers: list[CachedLayer | StateLayer] = []
        for index, name in enumerate(pattern.mixers):
            variant = variants.find(name)
            given = choices(name, pattern, index, n_heads, n_kv_heads, head_dim)
            options, dimensions = options_of(variant, given)
            sizes = sizes_of(variant, d_model, dimensions)
            factor, formula = scaling(variant.scaled, 1.0, sizes["head_dim"])
            setup = Setup(dimensions=sizes, scale=factor, scaling=formula, options=options)
            drawn = variant.parameters(d_model, seed + index, sizes)
            W = {word: matrix.to(place, dtype) for word, matrix in drawn.items()}
            state = variant.recurrence is not None
            layers.append(StateLayer(name, W, setup) if state else CachedLayer(W, setup))
        return cls(layers)

    def step(self, x: Float[Tensor, "batch 1 d_model"]) -> Float[Tensor, "batch 1 d_model"]:
        """The next token through every layer."""
        for layer in self.layers:
            x = x + layer(normed(x))
        return x

    @property
    def kept_bytes(self) -> tuple[int, ...]:
        """What each layer holds now, counted from its tensors."""
        return tuple(sum(kept.nbytes for kept in layer.kept.values()) for layer in self.layers)

    def skip_to(self, length: int, like: Tensor) -> None:
        """Stand where `length` tokens would have been read: what is kept has its size then, and
        numbers without meaning. For timing, which does not depend on them."""
        for layer in self.layers:
            layer.skip_to(length, like)


@torch.no_grad()
def step_seconds(
    pattern: Pattern,
    d_model: int,
    lengths: Sequence[int],
    *,
    repeats: int = 9,
    n_heads: int = 4,
    n_kv_heads: int | None = None,
    head_dim: int | None = None,
) -> Iterator[tuple[int, float, int]]:
    """(length, median seconds of one decoding step after that many tokens, bytes kept), measured.

    Each repeat begins from the same prefix; the first, which warms up, does not count.
    """
    sizes = {"n_heads": n_heads, "n_kv_heads": n_kv_heads, "head_dim": head_dim}
    decoder = Decoder.of(pattern, d_model, **sizes)
    x = torch.ones(1, 1, d_model, device=chosen_device(None))
    for length in lengths:
        decoder.skip_to(1, x)
        caches = [layer for layer in decoder.layers if isinstance(layer, CachedLayer)]
        for_one = sum(kept.nbytes for layer in caches for kept in layer.kept.values())
        require(
            length * for_one,
            f"Keeping the cache of {length:,} tokens",
            "choose a shorter prefix, fewer full layers or smaller heads",
        )
        taken = []
        for _ in range(repeats + 1):
            decoder.skip_to(length, x)
            kept = sum(decoder.kept_bytes)
            begin = time.perf_counter()
            decoder.step(x)
            if x.is_cuda:
                torch.cuda.synchronize()
            taken.append(time.perf_counter() - begin)
        yield length, median(taken[1:]), kept

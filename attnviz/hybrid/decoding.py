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
from attnviz.variants.latent import project_latent
from attnviz.variants.latent_decoding import absorbed
from attnviz.variants.recurrent import options_of
from attnviz.variants.scaling import scaling
from attnviz.variants.softmax import attend_fused
from attnviz.variants.variant import Setup, Tensors


class Cache:
    """Tensors that get a row at every token, written in place."""

    def __init__(self) -> None:
        self.length = 0
        self.room: dict[str, Tensor] = {}  # each (B, G, at least length, channels)

    @property
    def kept(self) -> dict[str, Float[Tensor, "batch kv_heads tokens _"]]:
        """What was written so far."""
        return {name: room[:, :, : self.length] for name, room in self.room.items()}

    def skip_to(self, length: int, like: Tensor, shapes: dict[str, tuple[int, int]]) -> None:
        self.length = length
        self.room = {
            name: like.new_zeros(1, heads, length + 1, channels)
            for name, (heads, channels) in shapes.items()
        }

    def add(self, **rows: Float[Tensor, "batch kv_heads 1 _"]) -> None:
        """One more token; twice the room when it runs out, so that few steps ever copy."""
        for name, new in rows.items():
            room = self.room.get(name)
            if room is None or room.shape[2] == self.length:
                larger = new.new_zeros(*new.shape[:2], 2 * max(1, self.length), new.shape[3])
                if room is not None:
                    larger[:, :, : self.length] = room
                self.room[name] = room = larger
            room[:, :, self.length] = new[:, :, 0]
        self.length += 1


class CachedLayer:
    """Softmax attention that keeps the keys and values of every token (MHA, GQA, MQA)."""

    def __init__(self, W: Tensors, setup: Setup) -> None:
        self.W, self.setup, self.cache = W, setup, Cache()

    @property
    def kept(self) -> dict[str, Tensor]:
        return self.cache.kept

    def skip_to(self, length: int, like: Tensor) -> None:
        sizes = self.setup.dimensions
        G = sizes["n_kv_heads"]
        shapes = {"keys": (G, sizes["head_dim"]), "values": (G, sizes["v_head_dim"])}
        self.cache.skip_to(length, like, shapes)

    def __call__(self, x: Float[Tensor, "batch 1 d_model"]) -> Float[Tensor, "batch 1 d_model"]:
        query, key, value = attending(project_heads(x, x, self.W, self.setup))
        self.cache.add(keys=key, values=value)
        kept = self.kept
        heads = attend_fused(
            query, kept["keys"], kept["values"], allowed=None, scale=self.setup.scale
        )
        return join_heads(heads, self.W)["output"]


class LatentLayer:
    """Latent attention that keeps one latent and one position key a token, decoded absorbed."""

    def __init__(self, W: Tensors, setup: Setup) -> None:
        self.W, self.setup, self.cache = W, setup, Cache()

    @property
    def kept(self) -> dict[str, Tensor]:
        return self.cache.kept

    def skip_to(self, length: int, like: Tensor) -> None:
        sizes = self.setup.dimensions
        shapes = {
            "latent": (1, sizes["kv_lora_rank"]),
            "key_position": (1, sizes["qk_rope_head_dim"]),
        }
        self.cache.skip_to(length, like, shapes)

    def __call__(self, x: Float[Tensor, "batch 1 d_model"]) -> Float[Tensor, "batch 1 d_model"]:
        steps = project_latent(x, x, self.W, self.setup)
        self.cache.add(
            latent=steps["latent_normed"][:, None], key_position=steps["key_position"][:, None]
        )
        cached = {name: kept[:, 0] for name, kept in self.kept.items()}
        query, turned = steps["query_heads"], steps["query_position_heads"]
        return absorbed(query, turned, cached, self.W, None, self.setup.scale).output


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

    Its weights are those of `run` with the same sizes and seed, and so are its outputs where
    positions are told by the inputs or not at all.
    """

    layers: list[CachedLayer | LatentLayer | StateLayer]

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
        layers: list[CachedLayer | LatentLayer | StateLayer] = []
        for index, name in enumerate(pattern.mixers):
            variant = variants.find(name)
            given = choices(name, pattern, index, n_heads, n_kv_heads, head_dim)
            options, dimensions = options_of(variant, given)
            sizes = sizes_of(variant, d_model, dimensions)
            factor, formula = scaling(variant.scaled, 1.0, sizes["head_dim"])
            setup = Setup(dimensions=sizes, scale=factor, scaling=formula, options=options)
            drawn = variant.parameters(d_model, seed + index, sizes)
            W = {word: matrix.to(place, dtype) for word, matrix in drawn.items()}
            if variant.recurrence is not None:
                layers.append(StateLayer(name, W, setup))
            else:
                layers.append((LatentLayer if name == "latent" else CachedLayer)(W, setup))
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
        caches = [layer for layer in decoder.layers if not isinstance(layer, StateLayer)]
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

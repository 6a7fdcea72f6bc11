"""Run a stack: every layer's mixer on what the layers before it made, and its true map."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from attnviz import variants
from attnviz.errors import AttnvizError
from attnviz.hybrid.patterns import Pattern
from attnviz.inputs import Inputs
from attnviz.masks import causal
from attnviz.models.memory import require


@dataclass(frozen=True)
class StackLayer:
    """One layer: its map of example 0, and what it hands on."""

    index: int
    letter: str  # F or L
    variant: str
    weights: Float[Tensor, "heads length length"]
    weights_kind: str  # softmax or effective
    output: Float[Tensor, "batch length d_model"]  # of the mixer, before the residual is added


@dataclass(frozen=True)
class Stack:
    """A finished run of a stack."""

    pattern: Pattern
    layers: tuple[StackLayer, ...]
    tokens: tuple[str, ...]
    token_details: tuple[str, ...]
    output: Float[Tensor, "batch length d_model"]  # of the last layer, residual included

    @property
    def maps(self) -> Float[Tensor, "layers heads length length"]:
        """Every layer's map; of a layer with a state the effective map, which is signed."""
        return torch.stack([layer.weights for layer in self.layers])

    @property
    def nbytes(self) -> int:
        return sum(layer.weights.nbytes + layer.output.nbytes for layer in self.layers)


def run(
    pattern: Pattern,
    inputs: Inputs,
    *,
    n_heads: int = 4,
    n_kv_heads: int | None = None,
    head_dim: int | None = None,
    seed: int = 0,
    progress: Callable[[float, str], None] | None = None,
) -> Stack:
    """x_l = x_{l-1} + mixer_l(norm(x_{l-1})) for every layer, causal throughout.

    norm divides each token's vector by its root mean square (Zhang and Sennrich 2019) without
    weights; there are no feed-forward layers between, so that what is seen is attention's own.
    Layer l has weights of its own, seed + l. Raises AttnvizError, TooLargeError.
    """
    H = n_heads
    require(
        10 * inputs.length**2 * H * 4 + len(pattern.letters) * H * inputs.length**2 * 4,
        f"Keeping the maps of {len(pattern.letters)} layers for {inputs.length:,} tokens",
        "shorten the input, or use fewer layers or heads",
    )
    x = inputs.embeddings
    layers = []
    for index, name in enumerate(pattern.mixers):
        if progress is not None:
            progress(index / len(pattern.letters), f"Layer {index}: {name}")
        given = Inputs(normed(x), inputs.tokens, positions=inputs.positions)
        trace = variants.run(
            name,
            given,
            mask=causal(),
            seed=seed + index,
            **choices(name, pattern, index, H, n_kv_heads, head_dim),
        )
        x = x + trace.output
        layers.append(
            StackLayer(
                index=index,
                letter=pattern.letters[index],
                variant=name,
                weights=trace.weights[0].float(),
                weights_kind=trace.weights_kind,
                output=trace.output,
            )
        )
    return Stack(pattern, tuple(layers), inputs.tokens, inputs.token_details, x)


def normed(x: Float[Tensor, "batch length d_model"]) -> Float[Tensor, "batch length d_model"]:
    """Each token's vector at root mean square 1."""
    return F.rms_norm(x, (x.shape[-1],), eps=1e-6)


def choices(
    name: str,
    pattern: Pattern,
    index: int,
    n_heads: int,
    n_kv_heads: int | None = None,
    head_dim: int | None = None,
) -> dict[str, Any]:
    """The dimensions that a layer's variant takes of those of the stack."""
    taken: dict[str, Any] = {"n_heads": n_heads}
    if head_dim is not None:
        taken["head_dim"] = head_dim
    if name == "grouped_query":
        shared = max(1, n_heads // 2) if n_kv_heads is None else n_kv_heads
        if n_heads % shared:
            raise AttnvizError(
                f"n_heads = {n_heads} heads cannot share n_kv_heads = {shared} evenly; choose a "
                f"number that divides {n_heads}."
            )
        taken["n_kv_heads"] = shared
    if name == "lightning":  # its decay depends on the depth
        taken |= {"layer": index + 1, "n_layers": len(pattern.letters)}
    return taken

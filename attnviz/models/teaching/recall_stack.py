"""Tiny hybrid stacks that look values up by their keys (associative recall, Arora et al. 2023).

A line holds pairs, key then value, and after them keys alone: at each of those the stack has to
name the value that came with it. Layers are the registry's own mixers, one after the other with a
residual and no feed-forward layers. Each place also sees the token before it, which is what the
short convolutions of such models give: without it no layer could tell which value is whose.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from attnviz import variants
from attnviz.variants.dimensions import sizes_of
from attnviz.variants.variant import Setup

RECORD = Path(__file__).parents[3] / "assets" / "models" / "recall_stacks.json"
N_KEYS, N_VALUES = 64, 64
STACKS = {
    "all full": "FFFFFFF",
    "1:1": "LFLFLFL",
    "3:1": "LLLFLLF",
    "6:1": "LLLLLLF",
    "all linear": "LLLLLLL",
}
"""Seven layers each; F is multi-head attention, L the gated delta rule. 3:1 begins anew and is cut
at the end, as in Kimi Linear's 27 layers."""
MIXERS = {"F": "multi_head", "L": "gated_delta_rule"}


@dataclass(frozen=True)
class Sizes:
    """Small enough that a state does not simply hold everything."""

    d_model: int = 32
    n_heads: int = 2
    head_dim: int = 8


class Mixer(nn.Module):
    """One of the registry's mixers with weights that learn."""

    def __init__(self, name: str, sizes: Sizes, seed: int) -> None:
        super().__init__()
        self.variant = variants.find(name)
        own = {"n_heads": sizes.n_heads, "head_dim": sizes.head_dim}
        dimensions = sizes_of(self.variant, sizes.d_model, own)
        drawn = self.variant.parameters(sizes.d_model, seed, dimensions)
        self.W = nn.ParameterDict({word: nn.Parameter(m.float()) for word, m in drawn.items()})
        full = self.variant.recurrence is None
        self.setup = Setup(
            dimensions=dimensions, scale=sizes.head_dim**-0.5, scaling="", rotary=full
        )
        self.full = full

    def forward(
        self, x: Float[Tensor, "batch length d_model"]
    ) -> Float[Tensor, "batch length d_model"]:
        length = x.shape[1]
        allowed = torch.ones(1, 1, length, length, dtype=torch.bool).tril() if self.full else None
        return self.variant.fused(x, x, dict(self.W), allowed, self.setup)["output"]


class RecallStack(nn.Module):
    """Logits over the values, at every place of a line."""

    def __init__(self, letters: str, sizes: Sizes | None = None, seed: int = 0) -> None:
        super().__init__()
        sizes = sizes or Sizes()
        torch.manual_seed(seed)
        self.now = nn.Embedding(N_KEYS + N_VALUES, sizes.d_model)
        self.before = nn.Embedding(N_KEYS + N_VALUES, sizes.d_model)
        self.layers = nn.ModuleList(
            Mixer(MIXERS[letter], sizes, seed + index) for index, letter in enumerate(letters)
        )
        self.name = nn.Linear(sizes.d_model, N_VALUES)

    def forward(self, tokens: Int[Tensor, "batch length"]) -> Float[Tensor, "batch length values"]:
        shifted = F.pad(self.before(tokens)[:, :-1], (0, 0, 1, 0))
        x = self.now(tokens) + shifted
        for layer in self.layers:
            x = x + layer(F.rms_norm(x, x.shape[-1:]))
        return self.name(F.rms_norm(x, x.shape[-1:]))


def lines(
    n_lines: int, n_pairs: int, generator: torch.Generator
) -> tuple[Int[Tensor, "lines length"], Int[Tensor, "lines pairs"]]:
    """(tokens, the value due at each of the keys at the end): all pairs are asked for once."""
    order = torch.rand(n_lines, N_KEYS, generator=generator).argsort(-1)
    keys = order[:, :n_pairs]
    values = torch.randint(N_VALUES, (n_lines, n_pairs), generator=generator)
    pairs = torch.stack([keys, values + N_KEYS], dim=-1).flatten(1)
    asked = torch.rand(n_lines, n_pairs, generator=generator).argsort(-1)
    tokens = torch.cat([pairs, keys.gather(1, asked)], dim=1)
    return tokens, values.gather(1, asked)


def kept_bytes(letters: str, length: int, sizes: Sizes | None = None) -> int:
    """What the stack keeps of a line of that length between tokens, in float32."""
    from attnviz.kv_cache import CacheSpec, Full, Linear, size

    sizes = sizes or Sizes()
    H, d = sizes.n_heads, sizes.head_dim
    layers = [Full(H, d) if letter == "F" else Linear((H, d, d)) for letter in letters]
    return size(CacheSpec.from_layers(layers), length=length, dtype="float32").total_bytes


def record() -> dict[str, Any]:
    """Accuracy of each stack on lines that it never saw, as recorded after training."""
    return json.loads(RECORD.read_text())

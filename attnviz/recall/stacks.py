"""Small stacks of full and linear layers that learn associative recall.

x_0 = E[s_t] + W_before E[s_{t-1}], so that a value's token knows its key (the part that a short
convolution of width 2 plays in real linear layers); x_l = x_{l-1} + mixer_l(norm(x_{l-1})) for
each layer; logits = norm(x_L) U. The mixers are the registry's own, causal, without positions and
without feed-forward layers between them: what is remembered, attention remembers.
"""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from attnviz import variants
from attnviz.hybrid.patterns import Pattern, cache_of
from attnviz.hybrid.stack import normed
from attnviz.kv_cache import CacheSpec
from attnviz.recall.pairs import KEYS, VALUES
from attnviz.variants.heads import join_heads
from attnviz.variants.linear import prepare, quadratic
from attnviz.variants.variant import Setup

LINEAR, FULL = "linear", "multi_head"
WIDTH = 32
SIZES = {"n_heads": 1, "head_dim": 4}
"""One small head a layer: a state of 4 x (4 + 1) numbers cannot hold all pairs."""
STACKS = {
    "all linear": "LLLLLLLL",
    "6:1": "LLLFLLL",
    "3:1": "LLLFLLLF",
    "1:1": "LFLFLFLF",
    "all full": "FFFFFFFF",
}
"""Linear layers to full ones. Eight layers each, but 6:1, which has seven to be exact."""


class Mixer(nn.Module):
    """One variant of the registry with weights that learn."""

    def __init__(self, name: str, seed: int) -> None:
        super().__init__()
        self.variant = variants.find(name)
        sizes = self.variant.dimensions(WIDTH, **SIZES)
        options = {word: known[0] for word, known in self.variant.options.items()}
        drawn = self.variant.draw(WIDTH, seed, sizes, options)
        self.W = nn.ParameterDict({word: W.float() for word, W in drawn.items()})
        scale = sizes["head_dim"] ** -0.5 if self.variant.scaled else 1.0
        self.setup = Setup(sizes, scale, "", options=options)

    def forward(
        self, x: Float[Tensor, "batch length d_model"]
    ) -> Float[Tensor, "batch length d_model"]:
        """The variant's output; a linear layer's in its form for short sequences, all at once."""
        W = dict(self.W.items())
        if self.variant.recurrence is None:
            allowed = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).tril()[None, None]
            return self.variant.compute(x, x, W, allowed, self.setup)["output"]
        steps = prepare(x, W, self.setup)
        features = steps["query_features"], steps["key_features"]
        return join_heads(quadratic(*features, steps["value_heads"]), W)["output"]


class Stack(nn.Module):
    """letters: which layers are full (F) and which linear (L). seed: of the first weights."""

    def __init__(self, letters: str, seed: int) -> None:
        super().__init__()
        self.pattern = Pattern(letters, LINEAR, FULL)
        first = torch.Generator().manual_seed(seed)

        def random(rows: int, columns: int, size: float) -> nn.Parameter:
            return nn.Parameter(size * torch.randn(rows, columns, generator=first))

        self.E = random(KEYS + VALUES, WIDTH, 1.0)
        self.W_before = random(WIDTH, WIDTH, WIDTH**-0.5)
        self.U = random(WIDTH, VALUES, WIDTH**-0.5)
        mixers = [Mixer(name, 100 * seed + i) for i, name in enumerate(self.pattern.mixers)]
        self.layers = nn.ModuleList(mixers)

    def forward(
        self, tokens: Int[Tensor, "batch length"], last: int
    ) -> Float[Tensor, "batch {last} values"]:
        """Logits of every value at the last tokens."""
        own = self.E[tokens]
        x = own + F.pad(own[:, :-1], (0, 0, 1, 0)) @ self.W_before
        for mixer in self.layers:
            x = x + mixer(normed(x))
        return normed(x[:, -last:]) @ self.U

    @property
    def cache(self) -> CacheSpec:
        """What the stack keeps between tokens."""
        heads = SIZES["n_heads"]
        return cache_of(self.pattern, {"d_model": WIDTH, "n_kv_heads": heads, **SIZES})

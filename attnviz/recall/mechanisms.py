"""The mixers that are compared, as the registry's own recurrences and softmax run them.

Each takes pairs in the order in which they are written, then queries, and returns its answers.
Nothing is learned: keys and queries reach the mixer as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from attnviz.variants.chunked import chunked
from attnviz.variants.linear import feature_map
from attnviz.variants.mixer import driving
from attnviz.variants.softmax import attend

Answer = Callable[
    [Float[Tensor, "writes d"], Float[Tensor, "writes d"], Float[Tensor, "queries d"]],
    Float[Tensor, "queries d"],
]
"""(keys and values in the order of writing, queries) -> what is read for each query."""


@dataclass(frozen=True)
class Mechanism:
    """How one mixer stores and answers, and in words with what settings."""

    word: str
    title: str
    settings: str
    answer: Answer


def mechanisms(d: int, logit_scale: float, decay: float) -> tuple[Mechanism, ...]:
    """Softmax, which keeps everything, and five states of d x d numbers.

    logit_scale multiplies the cosine of query and key before the softmax. decay is Gated
    DeltaNet's alpha, the same at each write; KDA's channels go evenly in the logarithm from it
    to 1.
    """
    fading = torch.tensor(decay, dtype=torch.float64).log()
    channels = fading * torch.linspace(1, 0, d, dtype=torch.float64)
    return (
        Mechanism(
            "softmax",
            "Softmax (keeps all)",
            f"logit scale {logit_scale:g}",
            lambda k, v, q: attend(q, k, v, allowed=None, scale=logit_scale)["output"],
        ),
        Mechanism(
            "linear",
            "Linear, sums",
            "keys as they are, no normaliser",
            lambda k, v, q: _recall(k, v, q),
        ),
        Mechanism(
            "linear_normalised",
            "Linear, φ = elu + 1",
            "normalised",
            lambda k, v, q: _recall(feature_map(k, "elu"), v, feature_map(q, "elu"), averages=True),
        ),
        Mechanism(
            "delta_rule",
            "DeltaNet",
            "β = 1",
            lambda k, v, q: _recall(k, v, q, erases=True),
        ),
        Mechanism(
            "gated_delta_rule",
            "Gated DeltaNet",
            f"β = 1, α = {decay:g}",
            lambda k, v, q: _recall(k, v, q, erases=True, fading=fading.reshape(1)),
        ),
        Mechanism(
            "kimi_delta",
            "KDA",
            f"β = 1, α from {decay:g} to 1 by channel",
            lambda k, v, q: _recall(k, v, q, erases=True, fading=channels),
        ),
    )


def _recall(
    keys: Float[Tensor, "writes d_k"],
    values: Float[Tensor, "writes d_v"],
    queries: Float[Tensor, "queries d_k"],
    *,
    erases: bool = False,
    averages: bool = False,
    fading: Float[Tensor, " #d_k"] | None = None,
) -> Float[Tensor, "queries d_v"]:
    """Write all pairs, then read: a query is a token that writes nothing and lets nothing fade."""
    n, more = len(keys), len(queries)
    reading = torch.cat([torch.zeros_like(keys), queries])
    log_decay = torch.zeros(n + more, 1 if fading is None else len(fading), dtype=keys.dtype)
    if fading is not None:
        log_decay[:n] = fading
    strength = torch.cat([keys.new_ones(n), keys.new_zeros(more)])
    driven = driving(
        reading[None, None],
        torch.cat([keys, queries])[None, None],
        torch.cat([values, values.new_zeros(more, values.shape[1])])[None, None],
        log_decay=log_decay[None, None],
        strength=strength[None, None],
        erases=erases,
        normalised=averages,
    )
    return chunked(driven)[0][0, 0, n:]

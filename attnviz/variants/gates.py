"""The gates of recurrent mixers: how each token sets what is forgotten and how much is written."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from jaxtyping import Float, Float64
from torch import Tensor
from torch.nn import functional as F

from attnviz import seeded
from attnviz.errors import AttnvizError
from attnviz.variants.dimensions import positive
from attnviz.variants.parameters import head_columns

FASTEST = 16.0
"""exp(A_log) is drawn between 1 and this, as Mamba-2 and its followers do."""
STEPS = (1e-3, 1e-1)
"""softplus(dt_bias) is drawn between these, evenly in the logarithm."""


def unit_length(x: Float[Tensor, "*batch d_k"]) -> Float[Tensor, "*batch d_k"]:
    """x / sqrt(sum x^2 + 1e-6). With longer keys a delta rule's state would explode."""
    return x * torch.rsqrt((x * x).sum(-1, keepdim=True) + 1e-6)


def write_strength(
    x: Float[Tensor, "batch length d_model"], W_beta: Float[Tensor, "d_model heads"], beta_max: int
) -> Float[Tensor, "batch heads length"]:
    """beta = beta_max sigmoid(x W_beta). Above 1 a write overshoots: eigenvalues turn negative."""
    return beta_max * torch.sigmoid(x @ W_beta).mT


def head_decay(
    x: Float[Tensor, "batch length d_model"], W: Mapping[str, Tensor]
) -> Float[Tensor, "batch heads length"]:
    """g = -exp(A_log) softplus(x W_dt + dt_bias), one number a head (Yang et al. 2024)."""
    return (-W["A_log"].exp() * step_size(x, W)).mT


def step_size(
    x: Float[Tensor, "batch length d_model"], W: Mapping[str, Tensor]
) -> Float[Tensor, "batch length heads"]:
    """softplus(x W_dt + dt_bias): how long the token lasts, Mamba's Delta."""
    return F.softplus(x @ W["W_dt"] + W["dt_bias"])


def decay_parameters(
    d_model: int, seed: int, n_heads: int, channels: int = 1
) -> dict[str, Float64[Tensor, ...]]:
    """W_dt (d_model, H c), A_log (H), dt_bias (H c), drawn as the papers' code starts them."""
    low, high = (torch.tensor(step, dtype=torch.float64).log() for step in STEPS)
    size = (low + (high - low) * _evenly("dt_bias", seed, n_heads, channels).flatten()).exp()
    A = 1 + (FASTEST - 1) * _evenly("A_log", seed, n_heads, 1).flatten()
    return {
        "W_dt": head_columns("W_dt", seed, n_heads, d_model, channels),
        "A_log": A.log(),
        "dt_bias": size + torch.log(-torch.expm1(-size)),  # the inverse of softplus
    }


def _evenly(name: str, seed: int, n_heads: int, n: int) -> Float64[Tensor, "{n_heads} {n}"]:
    """Numbers evenly spread between 0 and 1; head h has the same whatever the number of heads."""
    drawn = [seeded.normal((n,), seed, name, head) for head in range(n_heads)]
    return torch.special.ndtr(torch.stack(drawn))


def at_most_two(beta_max: int) -> int:
    """beta_max, if it is 1 or 2: beyond 2 a delta rule's state grows without bound."""
    if positive("beta_max", beta_max) > 2:
        raise AttnvizError(f"beta_max must be 1 or 2; received {beta_max}.")
    return beta_max


def shared_keys(n_heads: int, n_key_heads: int | None) -> int:
    """n_key_heads, if the heads can share them evenly; None: one for each head."""
    if n_key_heads is None:
        return n_heads
    positive("n_key_heads", n_key_heads)
    if n_heads % n_key_heads:
        fitting = ", ".join(str(n) for n in range(1, n_heads + 1) if n_heads % n == 0)
        raise AttnvizError(
            f"n_heads = {n_heads} heads cannot share n_key_heads = {n_key_heads} evenly; choose "
            f"one of {fitting}."
        )
    return n_key_heads

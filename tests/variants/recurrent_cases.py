"""Inputs, states and names that every recurrent variant is held to."""

from __future__ import annotations

import torch

import attnviz as av
from attnviz.variants.recurrence import Recurrence

RECURRENT = (
    "linear",
    "retention",
    "delta_rule",
    "gated_delta_rule",
    "kimi_delta",
    "lightning",
    "mamba2",
)
EXACT = {"float32": 1e-5, "float64": 1e-10}
"""How far A V + B S_0 may be from the recurrent output."""
LENGTH, D_MODEL, HEADS = 70, 24, 3  # more than one chunk of 64, and a ragged last one


def inputs(dtype: str = "float64", length: int = LENGTH) -> av.Inputs:
    drawn = av.random_inputs(length, D_MODEL, batch=2, seed=1).embeddings
    return av.Inputs(drawn.to(getattr(torch, dtype)))


def state_for(name: str, trace: av.Trace) -> torch.Tensor:
    """A state that is not empty; positive, so that a normaliser among it stays above 0."""
    assert trace.state is not None
    generator = torch.Generator().manual_seed(3)
    drawn = torch.rand(trace.state.shape, generator=generator, dtype=torch.float64)
    return drawn if av.variants.find(name).normalised else drawn - 0.5


def driven(
    dtype: torch.dtype,
    *,
    length: int = LENGTH,
    channels: int = 1,
    fastest: float = 0.2,
    strongest: float = 1.0,
    erases: bool = True,
    seed: int = 0,
) -> Recurrence:
    """A recurrence on unit keys: log decays down to -fastest, strengths up to strongest."""
    generator = torch.Generator().manual_seed(seed)

    def uniform(*shape: int) -> torch.Tensor:
        return torch.rand(2, 3, length, *shape, generator=generator, dtype=torch.float64)

    query, key = (uniform(8) - 0.5 for _ in range(2))
    return Recurrence(
        query=torch.nn.functional.normalize(query, dim=-1).to(dtype),
        key=torch.nn.functional.normalize(key, dim=-1).to(dtype),
        value=(uniform(5) - 0.5).to(dtype),
        log_decay=(-fastest * uniform(channels) ** 4).to(dtype),  # mostly slow, some fast
        strength=(strongest * uniform()).to(dtype),
        scale=8**-0.5,
        erases=erases,
    )

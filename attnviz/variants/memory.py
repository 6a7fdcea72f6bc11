"""Refuse, in words, a run whose maps would not fit in memory."""

from __future__ import annotations

import torch

from attnviz.inputs import Inputs
from attnviz.models.memory import require

MAPS = 6
"""Of the size (B, H, T_q, T_k): scores, scaled, masked, weights, and two that softmax needs."""


def require_room(asking: Inputs, answering: Inputs, n_heads: int, dtype: torch.dtype) -> None:
    """Raise TooLargeError if keeping every map of the run would take more than there is."""
    batch, n_queries, n_keys = asking.embeddings.shape[0], asking.length, answering.length
    require(
        MAPS * batch * n_heads * n_queries * n_keys * dtype.itemsize,
        f"Keeping every map of {n_heads} heads for {n_queries:,} queries and {n_keys:,} keys",
        "shorten the input, use fewer heads, or choose kernel='sdpa', which keeps no maps",
    )

"""Refuse, in words, a run that would not fit in memory."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from attnviz.inputs import Inputs
from attnviz.models.memory import require

MAPS = 6
"""Of the size (B, H, T_q, T_k): scores, scaled, masked, weights, and two that softmax needs."""
WEIGHT_BYTES = 16
"""A weight at its peak: drawn in float64, and once more while blocks are joined and cast."""


def n_maps(sizes: Mapping[str, int]) -> int:
    """One a head, or one a channel where a variant works by channel."""
    return sizes.get("n_channels", sizes.get("n_heads", 1))


def require_room(asking: Inputs, answering: Inputs, n_heads: int, dtype: torch.dtype) -> None:
    """Raise TooLargeError if keeping every map of the run would take more than there is."""
    batch, n_queries, n_keys = asking.embeddings.shape[0], asking.length, answering.length
    require(
        MAPS * batch * n_heads * n_queries * n_keys * dtype.itemsize,
        f"Keeping every map of {n_heads} heads for {n_queries:,} queries and {n_keys:,} keys",
        "shorten the input, use fewer heads, or choose kernel='sdpa', which keeps no maps",
    )


def require_weights(d_model: int, sizes: Mapping[str, int], n_tokens: int = 0) -> None:
    """Raise TooLargeError if the weight matrices, or what they project, would take too much.

    n_tokens counts those of every sequence of the batch, queries and keys.
    """
    heads = sizes.get("n_heads", 1)
    kv_heads = sizes.get("n_kv_heads", heads)
    d_k, d_v = sizes["head_dim"], sizes["v_head_dim"]
    channels = heads * (d_k + d_v) + kv_heads * (d_k + d_v)  # of W_q, W_o, W_k, W_v
    ranks = sizes.get("kv_lora_rank", 0) + sizes.get("q_lora_rank", 0)  # of latent attention
    require(
        WEIGHT_BYTES * (channels * (d_model + n_tokens + ranks) + ranks * (d_model + n_tokens)),
        f"Drawing weights for d_model = {d_model:,}, head_dim = {d_k:,} and v_head_dim = {d_v:,}, "
        f"for {heads:,} {'head' if heads == 1 else 'heads'},",
        "choose smaller dimensions or fewer heads",
    )

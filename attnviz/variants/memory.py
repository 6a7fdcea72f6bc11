"""Refuse, in words, a run that would not fit in memory."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

import torch

from attnviz.inputs import Inputs
from attnviz.models.memory import require
from attnviz.variants.variant import Setup, Variant

WEIGHT_BYTES = 16
"""A weight at its peak: drawn in float64, and once more while blocks are joined and cast."""
COUNTS = {"head": "n_heads", "map_channel": "n_channels", "index_head": "index_heads"}
"""Which dimension says how long an axis of a step is."""


def map_bytes(
    variant: Variant,
    sizes: Mapping[str, int],
    options: Mapping[str, str],
    shape: tuple[int, int, int],
    dtype: torch.dtype,
) -> int:
    """Bytes of all maps at the peak of a run that keeps every step.

    shape is (batch, queries, keys). Counted are the steps that the variant describes with a cell
    for each query and key, and what it needs beside them while it works.
    """
    batch, queries, keys = shape
    setup = Setup(dimensions=sizes, scale=1.0, scaling="S", options=options)
    cells = batch * queries * keys
    kept = sum(
        prod(sizes.get(COUNTS.get(axis, ""), 1) for axis in text.axes[1:-2])
        for text in variant.describe(setup).values()
        if text.axes[-2:] == ("query", "key")
    )
    heads = sizes.get("n_channels", sizes.get("n_heads", 1))
    wide = max(dtype.itemsize, torch.float32.itemsize)
    return kept * cells * dtype.itemsize + variant.working(cells * heads, sizes, options) * wide


def require_room(
    variant: Variant,
    sizes: Mapping[str, int],
    options: Mapping[str, str],
    asking: Inputs,
    answering: Inputs,
    dtype: torch.dtype,
) -> None:
    """Raise TooLargeError if keeping every map of the run would take more than there is."""
    n_queries = len(variant.query_tokens(asking.tokens, sizes))
    shape = (asking.embeddings.shape[0], n_queries, answering.length)
    heads = sizes.get("n_channels", sizes.get("n_heads", 1))
    word = "channels" if "n_channels" in sizes else "heads"
    require(
        map_bytes(variant, sizes, options, shape, dtype),
        f"Keeping every map of {heads} {word} for {n_queries:,} queries and {shape[2]:,} keys",
        f"shorten the input, use fewer {word}, or choose kernel={variant.fast or 'sdpa'!r}, which "
        f"keeps no maps",
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

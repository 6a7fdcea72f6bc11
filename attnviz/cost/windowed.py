"""Causal sliding-window attention in blocks: work and memory grow with the number of tokens."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F


def windowed(
    query: Float[Tensor, "batch heads length d_k"],
    key: Float[Tensor, "batch heads length d_k"],
    value: Float[Tensor, "batch heads length d_v"],
    window: int,
) -> Float[Tensor, "batch heads length d_v"]:
    """What softmax attention gives under causal() & sliding_window(window); scale 1 / sqrt(d_k).

    A block of `window` queries sees its own keys and those of the block before it, nothing else
    (Beltagy et al. 2020, section 3.1): the map of all tokens by all tokens is never made.
    """
    length = query.shape[2]
    n_blocks = -(-length // window)
    more = n_blocks * window - length
    q = F.pad(query, (0, 0, 0, more)).unflatten(2, (n_blocks, window))  # (B, H, n, w, d_k)
    k, v = (
        F.pad(tensor, (0, 0, window, more)).unfold(2, 2 * window, window).mT
        for tensor in (key, value)
    )  # (B, H, n, 2w, d)
    asks = torch.arange(window, device=query.device)[:, None] + window
    offers = torch.arange(2 * window, device=query.device)
    seen = (offers <= asks) & (offers > asks - window)
    real = torch.arange(n_blocks, device=query.device)[:, None, None] * window + offers >= window
    blocks = F.scaled_dot_product_attention(q, k, v, attn_mask=seen & real)
    return blocks.flatten(2, 3)[:, :, :length]

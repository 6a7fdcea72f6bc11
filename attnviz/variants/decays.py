"""Dot products that fade with distance, without ever leaving the range of numbers.

Between token j and a later token i a channel has faded by exp(G_i - G_j), G being the running sum
of log decays. Neither exp(G_i) nor exp(-G_j) is ever formed over a whole sequence: the one
underflows, the other overflows.
"""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

BLOCK = 32
"""Rows worked on at once where every channel fades at its own rate."""


def running(
    log_decay: Float[Tensor, "batch heads length #d_k"],
) -> Float[Tensor, "batch heads length #d_k"]:
    """G: the running sum of log decays, token t's own included.

    In float64 where the device has it: a sum of -1,000 in float32 would blur the small
    differences that come after it.
    """
    return (log_decay if log_decay.device.type == "mps" else log_decay.double()).cumsum(dim=-2)


def faded_products(
    left: Float[Tensor, "batch heads length d_k"],
    right: Float[Tensor, "batch heads length d_k"],
    log_decay: Float[Tensor, "batch heads length #d_k"],
) -> Float[Tensor, "batch heads length length"]:
    """M[i, j] = sum_c left[i, c] right[j, c] exp(G[i, c] - G[j, c]) for j <= i, 0 above."""
    G = running(log_decay)
    if log_decay.shape[-1] == 1:
        return (left @ right.mT) * _fading(G)[..., 0].to(left.dtype)
    rows = []
    for first in range(0, left.shape[2], BLOCK):
        own = slice(first, first + BLOCK)
        near = torch.einsum(
            "bhic,bhjc,bhijc->bhij",
            left[:, :, own],
            right[:, :, own],
            _fading(G[:, :, own]).to(left.dtype),
        )
        # Of earlier keys: fade each to the block's edge, and each row from there; neither grows.
        edge = G[:, :, max(first - 1, 0), None]
        from_edge = (G[:, :, own] - edge).exp().to(left.dtype) if first else 0.0
        to_edge = (edge - G[:, :, :first]).exp().to(left.dtype)
        far = (left[:, :, own] * from_edge) @ (right[:, :, :first] * to_edge).mT
        above = near.new_zeros((*near.shape[:3], left.shape[2] - first - near.shape[3]))
        rows.append(torch.cat([far, near, above], dim=-1))
    return torch.cat(rows, dim=-2)


def _fading(
    G: Float[Tensor, "batch heads length #d_k"],
) -> Float[Tensor, "batch heads length length #d_k"]:
    """exp(G_i - G_j) for j <= i, 0 above: masked before exp, which would overflow there."""
    difference = G[:, :, :, None] - G[:, :, None]
    ones = torch.ones(G.shape[2], G.shape[2], dtype=torch.bool, device=G.device)
    return difference.masked_fill(ones.triu(1)[..., None], -torch.inf).exp()

"""Why latent attention rotates channels of their own: rotation between the matrices blocks them.

With rotated content channels, q_i R_i^T R_j k_j^T = c^Q_i (W^UQ R_(i-j)^T W^UK^T) c_j^T: the matrix
to absorb depends on the distance i - j, so one matrix cannot serve all pairs (DeepSeek-V2, section
2.1.3).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from attnviz.errors import AttnvizError
from attnviz.positions import apply_rotary
from attnviz.trace import Trace
from attnviz.variants.latent_decoding import absorb
from attnviz.variants.softmax import hide, softmax


@dataclass(frozen=True)
class Coupling:
    """Measured on one run as if its content channels were rotated."""

    matrix_change: Float[Tensor, "heads distances"]  # ||M(d) - M(0)|| / ||M(0)||, d = 0, 1, ..
    moved: Float[Tensor, "heads queries"]  # share of each row that M(0) gives to wrong keys


def coupled_matrices(
    W: Mapping[str, Tensor], n_heads: int, n_distances: int
) -> Float[Tensor, "{n_heads} {n_distances} q_lora_rank kv_lora_rank"]:
    """W^UQ R_d^T W^UK^T of each head at the distances d = 0, 1, ..: without rotation, all the same.

    Raises AttnvizError where the content channels are odd in number.
    """
    up_query, up_key = (
        W[word].unflatten(1, (n_heads, -1)).transpose(0, 1) for word in ("W_uq", "W_uk")
    )  # (H, rank, d_h)
    at_distances = up_query[:, :, None].expand(-1, -1, n_distances, -1)
    return apply_rotary(at_distances).transpose(1, 2) @ up_key.mT[:, None]


def coupling(trace: Trace) -> Coupling:
    """How far M(0), absorbed, would be from the truth in this run of `latent`."""
    if trace.variant != "latent" or trace.is_cross:
        raise AttnvizError(
            f"Coupled rotation is measured on a run of 'latent' on one sequence; received "
            f"{'cross-attention' if trace.is_cross else repr(trace.variant)}."
        )
    H, length = trace.dimensions["n_heads"], len(trace.query_tokens)
    M = coupled_matrices(trace.parameters, H, length)
    change = torch.linalg.matrix_norm(M - M[:, :1]) / torch.linalg.matrix_norm(M[:, :1])
    query, key = (apply_rotary(trace[f"{word}_heads"].tensor) for word in ("query", "key"))
    product = absorb(trace.parameters, H).query
    c_q, c = (trace[word].tensor[:, None] for word in ("query_latent_normed", "latent_normed"))
    scale = float(trace.options["scale"])
    true, wrong = (
        softmax(hide(scores * scale, trace.allowed))
        for scores in (query @ key.mT, c_q @ product @ c.mT)
    )
    moved = (true - wrong).abs().sum(-1).mean(0) / 2  # (H, T_q)
    return Coupling(change, moved)

"""The exact map of a mixer that is linear in its values: output = A V + B S_0.

A is to such a mixer what the attention weights are to softmax attention, with two differences: a
cell may be negative, and rows need not add up to 1. It comes in closed form, or by probing any
form of the mixer with V = the identity; the two agree.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from jaxtyping import Float
from torch import Tensor

from attnviz.variants.chunked import chunked, writes
from attnviz.variants.decays import faded_products, running
from attnviz.variants.recurrence import Recurrence


def effective_map(
    recurrence: Recurrence, initial_state: Tensor | None = None
) -> Float[Tensor, "batch heads length length"]:
    """A = s M_qk (I + tril(Diag(beta) M_kk, -1))^-1 Diag(beta), and s M_qk Diag(beta) if additive.

    M_xy are the faded products of decays.py (Kimi Linear, arXiv:2510.26692, table 6, with beta).
    The inverse is never formed: a triangular system is solved. The initial state matters to a
    normalised mixer only, whose divisor it is part of.
    """
    r = recurrence
    eye = torch.eye(r.key.shape[2], dtype=r.key.dtype, device=r.key.device)
    once = eye.expand(*r.key.shape[:2], *eye.shape)  # one value a token, each in its own column
    A = r.scale * faded_products(r.query, r.key, r.log_decay)
    A = (
        A @ writes(r.key, once, r.log_decay, r.strength, True)
        if r.erases
        else (A * r.strength[..., None, :])
    )
    if r.normalised:
        A = A / _divisor(r, A, initial_state)
    return A if r.skip is None else A + r.skip[:, None, None] * eye


def initial_map(
    recurrence: Recurrence, initial_state: Tensor | None = None
) -> Float[Tensor, "batch heads length d_k"]:
    """B: what each token still reads of each row of the initial state."""
    r = recurrence
    left = running(r.log_decay).exp().to(r.key.dtype)
    B = r.scale * r.query * left
    if r.erases:
        B = B - effective_map(replace(r, skip=None)) @ (r.key * left)
    if r.normalised:
        unnormalised = effective_map(replace(r, normalised=False))
        B = B / _divisor(r, unnormalised, initial_state)
    return B


def probe(
    recurrence: Recurrence, initial_state: Tensor | None = None, columns: int = 256
) -> Float[Tensor, "batch heads length length"]:
    """A again, by handing the chunked form the identity as values, some columns at a time.

    A normalised mixer keeps its divisor, from its initial state's last column.
    """
    r = recurrence
    eye = torch.eye(r.key.shape[2], dtype=r.key.dtype, device=r.key.device)
    parts = []
    for some in eye.split(columns, dim=1):
        asked = replace(r, value=some.expand(*r.key.shape[:2], *some.shape))
        start = asked.start(None)
        if r.normalised and initial_state is not None:
            start[..., -1] = initial_state[..., -1]
        parts.append(chunked(asked, start)[0])
    return torch.cat(parts, dim=-1)


def _divisor(r: Recurrence, A: Tensor, initial_state: Tensor | None) -> Tensor:
    """(B, H, T, 1): what the mixer makes of values of 1, the initial state's share included."""
    total = A.sum(-1, keepdim=True)
    if initial_state is None:
        return total
    left = running(r.log_decay).exp().to(r.key.dtype)
    return total + (r.scale * r.query * left) @ initial_state[..., -1:].to(r.key)

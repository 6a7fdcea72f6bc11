"""The recurrence in chunks: matrix products inside a chunk, one state handed on between chunks.

Work and memory grow with the number of tokens; no map of all tokens by all tokens is made. The
delta rule's writes inside a chunk depend on each other through a triangular system, solved at once
(the UT transform of Yang et al. 2024, section 3.2; Kimi Linear, equations 3 to 9).
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from jaxtyping import Float
from torch import Tensor

from attnviz.variants.decays import faded_products, running
from attnviz.variants.recurrence import Recurrence

CHUNK = 64


def chunked(
    recurrence: Recurrence, initial_state: Tensor | None = None, chunk: int = CHUNK
) -> tuple[
    Float[Tensor, "batch heads length d_v"],
    Float[Tensor, "batch heads d_k columns"],
]:
    """The output of `recur`, and the final state."""
    r = recurrence
    S = r.start(initial_state)
    reads = []
    for _, read, after in walk(r, S, chunk):
        reads.append(read)
        S = after
    return r.finish(torch.cat(reads, dim=2)), S


def walk(
    recurrence: Recurrence, state: Float[Tensor, "batch heads d_k columns"], chunk: int = CHUNK
) -> Iterator[tuple[slice, Tensor, Tensor]]:
    """Chunk by chunk: (its tokens, what they read before finish(), the state after them).

    Shapes (B, H, chunk, columns) and (B, H, d_k, columns); the last chunk may be shorter.
    """
    r, S = recurrence, state
    values = r.values
    for first in range(0, r.key.shape[2], chunk):
        own = slice(first, min(first + chunk, r.key.shape[2]))
        q, k, log_decay = r.query[:, :, own], r.key[:, :, own], r.log_decay[:, :, own]
        G = running(log_decay)
        since_start = G.exp().to(k.dtype)  # how much of S is left at each token
        u = writes(
            k, values[:, :, own], log_decay, r.strength[:, :, own], r.erases, k * since_start @ S
        )
        within = faded_products(q, k, log_decay)
        read = r.scale * ((q * since_start) @ S + within @ u)
        to_end = (G[:, :, -1:] - G).exp().to(k.dtype)
        S = since_start[:, :, -1, :, None] * S + (k * to_end).mT @ u
        yield own, read, S


def writes(
    key: Float[Tensor, "batch heads length d_k"],
    value: Float[Tensor, "batch heads length columns"],
    log_decay: Float[Tensor, "batch heads length #d_k"],
    strength: Float[Tensor, "batch heads length"],
    erases: bool,
    held: Float[Tensor, "batch heads length columns"] | float = 0.0,
) -> Float[Tensor, "batch heads length columns"]:
    """u of every token: beta v, or the solution of u = beta (v - held - what earlier u left).

    held is what the state before these tokens answers to each key.
    """
    beta = strength[..., None]
    if not erases:
        return beta * value
    system = (beta * faded_products(key, key, log_decay)).tril(
        -1
    )  # its diagonal of ones is implied
    return torch.linalg.solve_triangular(
        system, beta * (value - held), upper=False, unitriangular=True
    )

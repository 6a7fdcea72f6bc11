"""What each convention makes of a query that may look at no key: run, not remembered.

A softmax over no keys is 0/0. The plain formula says so with NaN; every library has an answer of
its own, and one of them two.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

from attnviz.errors import AttnvizError
from attnviz.masks.conventions import to_additive, to_finite_additive, to_multihead, to_sdpa
from attnviz.masks.resolve import empty_rows

Verdict = Literal["nan", "zeros", "uniform", "weighted"]


@dataclass(frozen=True)
class EmptyRow:
    """What one convention returned for the empty row."""

    convention: str
    verdict: Verdict
    weights: Tensor  # (Tk,)
    output: Tensor  # (d,)


def verdict_of(weights: Float[Tensor, " keys"]) -> Verdict:
    """What kind of row this is: undefined, all zero, the same for every key, or none of these."""
    if bool(weights.isnan().any()):
        return "nan"
    if not bool(weights.any()):
        return "zeros"
    uniform = torch.full_like(weights, 1 / weights.shape[0])
    return "uniform" if torch.allclose(weights, uniform, atol=1e-6) else "weighted"


def empty_row_outcomes(
    query: Float[Tensor, "queries dim"],
    key: Float[Tensor, "keys dim"],
    value: Float[Tensor, "keys dim"],
    allowed: Bool[Tensor, "queries keys"],
    row: int,
) -> tuple[EmptyRow, ...]:
    """Run one head under each convention and report one empty row of it.

    Raises AttnvizError where the mask leaves that row a key.
    """
    if not bool(empty_rows(allowed[None, None])[0, 0, row]):
        raise AttnvizError(f"Query {row} may look at some key: hide them all to see what happens.")
    eye = torch.eye(key.shape[0], dtype=key.dtype, device=key.device)
    outcomes = []
    for name, attend in _CONVENTIONS.items():
        # Attention with the identity as its values returns its own weights.
        weights = attend(query, key, eye, allowed)[row]
        output = attend(query, key, value, allowed)[row]
        outcomes.append(EmptyRow(name, verdict_of(weights), weights, output))
    return tuple(outcomes)


def _formula(q: Tensor, k: Tensor, v: Tensor, allowed: Tensor) -> Tensor:
    return (q @ k.T / q.shape[-1] ** 0.5 + to_additive(allowed, q.dtype)).softmax(-1) @ v


def _finite(q: Tensor, k: Tensor, v: Tensor, allowed: Tensor) -> Tensor:
    return (q @ k.T / q.shape[-1] ** 0.5 + to_finite_additive(allowed, q.dtype)).softmax(-1) @ v


def _sdpa_bool(q: Tensor, k: Tensor, v: Tensor, allowed: Tensor) -> Tensor:
    mask = to_sdpa(allowed)
    return F.scaled_dot_product_attention(q[None], k[None], v[None], attn_mask=mask)[0]


def _sdpa_additive(q: Tensor, k: Tensor, v: Tensor, allowed: Tensor) -> Tensor:
    mask = to_additive(allowed, q.dtype)
    return F.scaled_dot_product_attention(q[None], k[None], v[None], attn_mask=mask)[0]


def _multihead(need_weights: bool) -> Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]:
    def attend(q: Tensor, k: Tensor, v: Tensor, allowed: Tensor) -> Tensor:
        width = q.shape[-1]
        module = nn.MultiheadAttention(width, 1, bias=False, batch_first=True)
        module = module.to(q.device, q.dtype).eval()
        identity = torch.eye(width, dtype=q.dtype, device=q.device)
        with torch.no_grad():  # projections that change nothing: only its attention is left
            module.in_proj_weight.copy_(identity.repeat(3, 1))
            module.out_proj.weight.copy_(identity)
            # Its values are as wide as its queries: send wider ones through in pieces.
            pieces = []
            for piece in v.split(width, dim=-1):
                padded = F.pad(piece, (0, width - piece.shape[-1]))[None]
                mask = to_multihead(allowed[None, None])
                out, _ = module(q[None], k[None], padded, attn_mask=mask, need_weights=need_weights)
                pieces.append(out[0, :, : piece.shape[-1]])
        return torch.cat(pieces, dim=-1)

    return attend


_CONVENTIONS: dict[str, Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]] = {
    "The formula: softmax with −∞ added": _formula,
    "PyTorch SDPA, boolean mask": _sdpa_bool,
    "PyTorch SDPA, −∞ added": _sdpa_additive,
    "nn.MultiheadAttention, with weights": _multihead(need_weights=True),
    "nn.MultiheadAttention, without weights": _multihead(need_weights=False),
    "transformers, eager: lowest finite number added": _finite,
}

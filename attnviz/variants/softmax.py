"""The core that all softmax variants share: scores, scaling, mask, softmax, weighted sum."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn import functional as F


def attend(
    query: Float[Tensor, "*batch queries d_k"],
    key: Float[Tensor, "*batch keys d_k"],
    value: Float[Tensor, "*batch keys d_v"],
    *,
    allowed: Bool[Tensor, "*#batch queries keys"] | None,
    scale: float,
) -> dict[str, Tensor]:
    """softmax(Q K^T * scale, masked) V, every step kept (Vaswani et al. 2017, equation 1)."""
    scores = query @ key.mT  # (..., T_q, T_k)
    scaled = scores * scale
    masked = hide(scaled, allowed)
    weights = softmax(masked)
    output = weights @ value  # (..., T_q, d_v)
    return {
        "scores": scores,
        "scaled": scaled,
        "masked": masked,
        "weights": weights,
        "output": output,
    }


def hide(
    scores: Float[Tensor, "*batch queries keys"],
    allowed: Bool[Tensor, "*#batch queries keys"] | None,
) -> Float[Tensor, "*batch queries keys"]:
    """Put -inf where a query may not look, so that e^score is 0 there. None hides nothing."""
    return scores if allowed is None else scores.masked_fill(~allowed, -torch.inf)


def softmax(
    scores: Float[Tensor, "*batch queries keys"],
) -> Float[Tensor, "*batch queries keys"]:
    """Make each row positive with sum 1; a row of nothing but -inf becomes zeros, never NaN.

    Runs in float32 at least, as transformers does for half precision.
    """
    wide = scores.float() if scores.dtype in (torch.float16, torch.bfloat16) else scores
    top = wide.amax(dim=-1, keepdim=True)  # subtracting it changes no weight and avoids overflow
    top = top.masked_fill(top == -torch.inf, 0.0)  # an empty row: -inf - (-inf) would be NaN
    powers = (wide - top).exp()
    total = powers.sum(dim=-1, keepdim=True)
    return (powers / total.masked_fill(total == 0, 1.0)).to(scores.dtype)


def attend_fused(
    query: Float[Tensor, "batch heads queries d_k"],
    key: Float[Tensor, "batch kv_heads keys d_k"],
    value: Float[Tensor, "batch kv_heads keys d_v"],
    *,
    allowed: Bool[Tensor, "#batch #heads queries keys"] | None,
    scale: float,
) -> Float[Tensor, "batch heads queries d_v"]:
    """The same output from PyTorch's fused kernel, which never writes the weights down.

    key and value may have fewer heads than query: each is then shared by a group of query heads.
    """
    return F.scaled_dot_product_attention(
        query, key, value, attn_mask=allowed, scale=scale, enable_gqa=True
    )

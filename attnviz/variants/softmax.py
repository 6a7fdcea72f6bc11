"""The core that all softmax variants share: scores, scaling, mask, softmax, weighted sum."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn import functional as F

from attnviz.errors import AttnvizError
from attnviz.variants import kernels
from attnviz.variants.scores import UNCHANGED, ScoreChanges, alibi, capped


def attend(
    query: Float[Tensor, "*batch queries d_k"],
    key: Float[Tensor, "*batch keys d_k"],
    value: Float[Tensor, "*batch keys d_v"],
    *,
    allowed: Bool[Tensor, "*#batch queries keys"] | None,
    scale: float,
    changes: ScoreChanges = UNCHANGED,
) -> dict[str, Tensor]:
    """softmax(Q K^T * scale, masked) V, every step kept (Vaswani et al. 2017, equation 1)."""
    scores = query @ key.mT  # (..., T_q, T_k)
    return {"scores": scores} | weigh(scores, value, allowed=allowed, scale=scale, changes=changes)


def weigh(
    scores: Float[Tensor, "*batch queries keys"],
    value: Float[Tensor, "*batch keys d_v"],
    *,
    allowed: Bool[Tensor, "*#batch queries keys"] | None,
    scale: float,
    changes: ScoreChanges = UNCHANGED,
) -> dict[str, Tensor]:
    """From scores to the output, whatever the scores came from."""
    now = scores * scale
    steps = {"scaled": now}
    if changes.slopes is not None:
        now = steps["biased"] = now + alibi(changes.slopes, *now.shape[-2:]).to(now)
    if changes.softcap is not None:
        now = steps["capped"] = capped(now, changes.softcap)
    steps["masked"] = hide(now, allowed)
    weights = softmax(steps["masked"], changes.sinks)
    if changes.sinks is not None:
        steps["sink_weights"] = sink_weights(steps["masked"], changes.sinks)
    return steps | {"weights": weights, "output": weights @ value}  # output (..., T_q, d_v)


def hide(
    scores: Float[Tensor, "*batch queries keys"],
    allowed: Bool[Tensor, "*#batch queries keys"] | None,
) -> Float[Tensor, "*batch queries keys"]:
    """Put -inf where a query may not look, so that e^score is 0 there. None hides nothing."""
    return scores if allowed is None else scores.masked_fill(~allowed, -torch.inf)


def softmax(
    scores: Float[Tensor, "*batch queries keys"],
    sinks: Float[Tensor, " heads"] | None = None,
) -> Float[Tensor, "*batch queries keys"]:
    """Make each row positive with sum 1; a row of nothing but -inf becomes zeros, never NaN.

    With a sink, e^sink joins the divisor, as a key with no value would, and rows add up to less
    than 1. Sink 0 is "softmax off by one" (Miller 2023, Attention is off by one); a learned sink
    a head is gpt-oss's (OpenAI 2025, arXiv:2508.10925, section 2.2). Runs in float32 at least, as
    transformers does for half precision.
    """
    wide = scores.float() if scores.dtype in (torch.float16, torch.bfloat16) else scores
    top = wide.amax(dim=-1, keepdim=True)  # subtracting it changes no weight and avoids overflow
    sink = None if sinks is None else sinks[:, None, None].to(wide)  # (H, 1, 1)
    if sink is not None:
        top = torch.maximum(top, sink)
    top = top.masked_fill(top == -torch.inf, 0.0)  # an empty row: -inf - (-inf) would be NaN
    powers = (wide - top).exp()
    total = powers.sum(dim=-1, keepdim=True)
    if sink is not None:
        total = total + (sink - top).exp()
    return (powers / total.masked_fill(total == 0, 1.0)).to(scores.dtype)


def sink_weights(
    scores: Float[Tensor, "*batch queries keys"], sinks: Float[Tensor, " heads"]
) -> Float[Tensor, "*batch queries"]:
    """The share of each row that no key gets."""
    logit = sinks[:, None, None].to(scores).expand(*scores.shape[:-1], 1)
    return softmax(torch.cat([scores, logit], dim=-1))[..., -1]


def attend_fused(
    query: Float[Tensor, "batch heads queries d_k"],
    key: Float[Tensor, "batch kv_heads keys d_k"],
    value: Float[Tensor, "batch kv_heads keys d_v"],
    *,
    allowed: Bool[Tensor, "#batch #heads queries keys"] | None,
    scale: float,
    changes: ScoreChanges = UNCHANGED,
) -> Float[Tensor, "batch heads queries d_v"]:
    """The same output from a fused kernel, which never writes the weights down.

    key and value may have fewer heads than query: each is then shared by a group of query heads.
    A bias goes in as an additive mask, and a sink as one more key, of value 0. Raises AttnvizError
    for a soft cap, which that kernel cannot compute.
    """
    if changes.softcap is not None:
        raise AttnvizError(
            "PyTorch's fused kernel has no soft cap; choose kernel='reference' or softcap='none'."
        )
    mask = allowed
    if changes.slopes is not None or changes.sinks is not None:
        mask = _added(query, key, allowed, changes)
    if changes.sinks is not None:
        key, value = (F.pad(x, (0, 0, 0, 1)) for x in (key, value))
    return kernels.fused(query, key, value, mask, scale)


def _added(query: Tensor, key: Tensor, allowed: Tensor | None, changes: ScoreChanges) -> Tensor:
    """What is added to the scores, -inf where hidden, and the sink's logit as a last column."""
    n_heads, (n_queries, n_keys) = query.shape[1], (query.shape[2], key.shape[2])
    added = query.new_zeros(1, n_heads, n_queries, n_keys)
    if changes.slopes is not None:
        added = added + alibi(changes.slopes, n_queries, n_keys).to(query)
    added = hide(
        added.expand(*(allowed.shape[:1] if allowed is not None else (1,)), -1, -1, -1), allowed
    )
    if changes.sinks is None:
        return added
    logit = changes.sinks[:, None, None].to(query)
    return torch.cat([added, logit.expand(*added.shape[:-1], 1)], dim=-1)

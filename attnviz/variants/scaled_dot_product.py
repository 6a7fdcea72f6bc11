"""Scaled dot-product attention: one head (Vaswani et al. 2017, section 3.2.1, equation 1).

Attention(Q, K, V) = softmax(Q K^T / sqrt(d_k)) V, with Q = X W^Q from the sequence that asks, and
K = C W^K, V = C W^V from the one that answers: itself (self-attention) or another (cross).
"""

from __future__ import annotations

from collections.abc import Mapping

from jaxtyping import Bool, Float
from torch import Tensor

from attnviz.positions import apply_rotary
from attnviz.variants.dimensions import positive
from attnviz.variants.parameters import head_columns
from attnviz.variants.scores import SCORE_OPTIONS, score_changes, sink_parameters
from attnviz.variants.softmax import attend, attend_fused, hide, softmax, weigh
from attnviz.variants.text import core_steps, projection_steps
from attnviz.variants.variant import Setup, StepText, Tensors, Variant


def compute(
    x: Float[Tensor, "batch queries d_model"],
    context: Float[Tensor, "batch keys d_model"],
    W: Mapping[str, Tensor],
    allowed: Bool[Tensor, "#batch 1 queries keys"] | None,
    setup: Setup,
) -> Tensors:
    """One head, every step kept."""
    changes = score_changes(setup, W)
    steps = project(x, context, W, setup)
    query, key, value = attending(steps)
    mask = None if allowed is None else allowed[:, 0]  # (#B, T_q, T_k): there is one head
    return steps | attend(query, key, value, allowed=mask, scale=setup.scale, changes=changes)


def project(
    x: Float[Tensor, "batch queries d_model"],
    context: Float[Tensor, "batch keys d_model"],
    W: Mapping[str, Tensor],
    setup: Setup,
) -> Tensors:
    """Queries from x, keys and values from the context, turned by position if rotary."""
    steps = {
        "query": x @ W["W_q"],  # (B, T_q, d_k)
        "key": context @ W["W_k"],  # (B, T_k, d_k)
        "value": context @ W["W_v"],  # (B, T_k, d_v)
    }
    if setup.rotary:
        steps["query_rotated"] = apply_rotary(steps["query"])
        steps["key_rotated"] = apply_rotary(steps["key"])
    return steps


def attending(steps: Tensors) -> tuple[Tensor, Tensor, Tensor]:
    """What enters the scores and the sum."""
    query = steps.get("query_rotated", steps["query"])
    key = steps.get("key_rotated", steps["key"])
    return query, key, steps["value"]


def fused(
    x: Float[Tensor, "batch queries d_model"],
    context: Float[Tensor, "batch keys d_model"],
    W: Mapping[str, Tensor],
    allowed: Bool[Tensor, "#batch 1 queries keys"] | None,
    setup: Setup,
) -> Tensors:
    """The same output from PyTorch's fused kernel."""
    changes = score_changes(setup, W)
    steps = project(x, context, W, setup)
    query, key, value = (tensor[:, None] for tensor in attending(steps))  # (B, 1, T, d)
    output = attend_fused(query, key, value, allowed=allowed, scale=setup.scale, changes=changes)
    return steps | {"output": output[:, 0]}


def dimensions(
    d_model: int, head_dim: int | None = None, v_head_dim: int | None = None
) -> dict[str, int]:
    """head_dim is d_k and v_head_dim is d_v; they default to d_model and to head_dim."""
    d_k = positive("head_dim", d_model if head_dim is None else head_dim)
    d_v = positive("v_head_dim", d_k if v_head_dim is None else v_head_dim)
    return {"head_dim": d_k, "v_head_dim": d_v}


def parameters(d_model: int, seed: int, sizes: Mapping[str, int]) -> Tensors:
    """W_q, W_k (d_model, d_k) and W_v (d_model, d_v), in float64."""
    return {
        "W_q": head_columns("W_q", seed, 1, d_model, sizes["head_dim"]),
        "W_k": head_columns("W_k", seed, 1, d_model, sizes["head_dim"]),
        "W_v": head_columns("W_v", seed, 1, d_model, sizes["v_head_dim"]),
    }


def describe(setup: Setup) -> dict[str, StepText]:
    """What each step is called, and how it came about."""
    return projection_steps(setup) | core_steps(setup, ("Q", "K", "V"))


VARIANT = Variant(
    name="scaled_dot_product",
    title="Scaled dot-product attention",
    source="Vaswani et al. 2017, Attention is all you need, section 3.2.1 (arXiv:1706.03762)",
    compute=compute,
    fused=fused,
    dimensions=dimensions,
    parameters=parameters,
    describe=describe,
    options=SCORE_OPTIONS,
    optional_parameters=sink_parameters,
    parts=(project, attend, weigh, hide, softmax),
)

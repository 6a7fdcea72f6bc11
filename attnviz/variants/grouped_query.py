"""Grouped-query attention: query heads share key/value heads (Ainslie et al. 2023, section 2.2).

With G key/value heads for H query heads, head h reads group h // (H / G). G = H is multi-head
attention, G = 1 is multi-query attention (Shazeer 2019).
"""

from __future__ import annotations

from collections.abc import Mapping

from jaxtyping import Bool, Float
from torch import Tensor

from attnviz.variants.dimensions import grouped, per_head, positive
from attnviz.variants.heads import (
    attending,
    join_heads,
    project_heads,
    share_heads,
    split_heads,
)
from attnviz.variants.multi_head import fused, parameters
from attnviz.variants.scores import SCORE_OPTIONS, score_changes, sink_parameters
from attnviz.variants.softmax import attend, hide, softmax, weigh
from attnviz.variants.text import core_steps, output_steps, projection_steps, split_steps
from attnviz.variants.variant import Setup, StepText, Tensors, Variant


def compute(
    x: Float[Tensor, "batch queries d_model"],
    context: Float[Tensor, "batch keys d_model"],
    W: Mapping[str, Tensor],
    allowed: Bool[Tensor, "#batch #heads queries keys"] | None,
    setup: Setup,
) -> Tensors:
    """All heads, every step kept."""
    H = setup.dimensions["n_heads"]
    changes = score_changes(setup, W)
    steps = project_heads(x, context, W, setup)
    query, key, value = attending(steps)
    key, value = share_heads(key, H), share_heads(value, H)  # (B, G, T_k, d) -> (B, H, T_k, d)
    steps |= attend(query, key, value, allowed=allowed, scale=setup.scale, changes=changes)
    return steps | join_heads(steps.pop("output"), W)


def dimensions(
    d_model: int,
    n_heads: int = 4,
    n_kv_heads: int = 2,
    head_dim: int | None = None,
    v_head_dim: int | None = None,
) -> dict[str, int]:
    """head_dim defaults to d_model / n_heads, v_head_dim to head_dim."""
    H = positive("n_heads", n_heads)
    G = grouped(H, n_kv_heads)
    d_k = per_head(d_model, H, head_dim)
    d_v = positive("v_head_dim", d_k if v_head_dim is None else v_head_dim)
    return {"n_heads": H, "n_kv_heads": G, "head_dim": d_k, "v_head_dim": d_v}


def describe(setup: Setup) -> dict[str, StepText]:
    """What each step is called, and how it came about."""
    return (
        projection_steps(setup, heads=True)
        | split_steps(setup, ("Q_h", "K_g", "V_g"))
        | core_steps(setup, ("Q_h", "K_g", "V_g"), heads=True)
        | output_steps()
    )


VARIANT = Variant(
    name="grouped_query",
    title="Grouped-query attention",
    source="Ainslie et al. 2023, GQA, section 2.2 (arXiv:2305.13245)",
    compute=compute,
    fused=fused,  # PyTorch's kernel shares the heads itself
    dimensions=dimensions,
    parameters=parameters,
    describe=describe,
    options=SCORE_OPTIONS,
    optional_parameters=sink_parameters,
    parts=(project_heads, split_heads, share_heads, attend, weigh, hide, softmax, join_heads),
)

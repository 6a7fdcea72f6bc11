"""Multi-head attention (Vaswani et al. 2017, section 3.2.2).

MultiHead(X) = Concat(O_1, .., O_H) W^O, with O_h = Attention(X W_h^Q, C W_h^K, C W_h^V): each head
compares tokens in a small space of its own, and the output projection mixes what they brought.
"""

from __future__ import annotations

from collections.abc import Mapping

from jaxtyping import Bool, Float
from torch import Tensor

from attnviz.variants.dimensions import per_head, positive
from attnviz.variants.heads import attending, join_heads, project_heads, split_heads
from attnviz.variants.parameters import head_columns, head_rows
from attnviz.variants.scores import SCORE_OPTIONS, score_changes, sink_parameters
from attnviz.variants.softmax import attend, attend_fused, hide, softmax, weigh
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
    changes = score_changes(setup, W)
    steps = project_heads(x, context, W, setup)
    steps |= attend(*attending(steps), allowed=allowed, scale=setup.scale, changes=changes)
    return steps | join_heads(steps.pop("output"), W)


def fused(
    x: Float[Tensor, "batch queries d_model"],
    context: Float[Tensor, "batch keys d_model"],
    W: Mapping[str, Tensor],
    allowed: Bool[Tensor, "#batch #heads queries keys"] | None,
    setup: Setup,
) -> Tensors:
    """The same output from PyTorch's fused kernel."""
    changes = score_changes(setup, W)
    steps = project_heads(x, context, W, setup)
    heads = attend_fused(*attending(steps), allowed=allowed, scale=setup.scale, changes=changes)
    return steps | join_heads(heads, W)


def dimensions(
    d_model: int, n_heads: int = 4, head_dim: int | None = None, v_head_dim: int | None = None
) -> dict[str, int]:
    """head_dim defaults to d_model / n_heads, v_head_dim to head_dim."""
    H = positive("n_heads", n_heads)
    d_k = per_head(d_model, H, head_dim)
    d_v = positive("v_head_dim", d_k if v_head_dim is None else v_head_dim)
    return {"n_heads": H, "n_kv_heads": H, "head_dim": d_k, "v_head_dim": d_v}


def parameters(d_model: int, seed: int, sizes: Mapping[str, int]) -> Tensors:
    """W_q (d_model, H d_k), W_k (d_model, G d_k), W_v (d_model, G d_v), W_o (H d_v, d_model).

    Here G = H; grouped-query attention draws the same with fewer key/value heads.
    """
    H, G = sizes["n_heads"], sizes["n_kv_heads"]
    d_k, d_v = sizes["head_dim"], sizes["v_head_dim"]
    return {
        "W_q": head_columns("W_q", seed, H, d_model, d_k),
        "W_k": head_columns("W_k", seed, G, d_model, d_k),
        "W_v": head_columns("W_v", seed, G, d_model, d_v),
        "W_o": head_rows("W_o", seed, H, d_v, d_model),
    }


def describe(setup: Setup) -> dict[str, StepText]:
    """What each step is called, and how it came about."""
    return (
        projection_steps(setup, heads=True)
        | split_steps(setup, ("Q_h", "K_h", "V_h"))
        | core_steps(setup, ("Q_h", "K_h", "V_h"), heads=True)
        | output_steps()
    )


VARIANT = Variant(
    name="multi_head",
    title="Multi-head attention",
    source="Vaswani et al. 2017, Attention is all you need, section 3.2.2 (arXiv:1706.03762)",
    compute=compute,
    fused=fused,
    dimensions=dimensions,
    parameters=parameters,
    describe=describe,
    options=SCORE_OPTIONS,
    optional_parameters=sink_parameters,
    parts=(project_heads, split_heads, attend, weigh, hide, softmax, join_heads),
)

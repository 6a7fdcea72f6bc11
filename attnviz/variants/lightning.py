"""Lightning attention of MiniMax-01: linear attention that fades (MiniMax 2025; Qin et al. 2024).

o_i = sum over j <= i of e^(-s_h (i - j)) (q_i k_j) v_j, with SiLU on queries, keys and values, no
softmax, no normaliser and no 1 / sqrt(d_k). The slope s_h depends on the head and the layer. The
model's norm over all heads and its gate come after what is computed here.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from attnviz.errors import AttnvizError
from attnviz.variants.dimensions import positive
from attnviz.variants.mixer import (
    driving,
    mixer_dimensions,
    mixer_parameters,
    placed,
    project_mixer,
    recurrent_variant,
)
from attnviz.variants.mixer_text import (
    decay_steps,
    feature_steps,
    mixer_projections,
    state_steps,
)
from attnviz.variants.recurrence import Recurrence
from attnviz.variants.variant import Setup, StepText, Tensors


def prepare(
    x: Float[Tensor, "batch length d_model"], W: Mapping[str, Tensor], setup: Setup
) -> Tensors:
    """Projections, SiLU of each, and the constant decay."""
    steps = project_mixer(x, W, setup)
    query, key = placed(steps)
    steps["query_features"] = F.silu(query)
    steps["key_features"] = F.silu(key)
    steps["value_features"] = F.silu(steps["value_heads"])
    sizes = setup.dimensions
    slope = slopes(sizes["n_heads"], sizes["layer"], sizes["n_layers"]).to(x)
    steps["log_decay"] = -slope[:, None].expand(x.shape[0], -1, x.shape[1])  # (B, H, T)
    steps["decay"] = steps["log_decay"].exp()
    return steps


def slopes(n_heads: int, layer: int, n_layers: int) -> Float[Tensor, " {n_heads}"]:
    """2^(-8 h / H) for h = 1 .. H, smaller in later layers, which look farther."""
    heads = torch.arange(1, n_heads + 1, dtype=torch.float64)
    depth = 1 - (layer - 1) / (n_layers - 1 + 1e-5) + 1e-5
    return 2.0 ** (-8 * heads / n_heads) * depth


def recurrence(steps: Mapping[str, Tensor], W: Mapping[str, Tensor], setup: Setup) -> Recurrence:
    """S_t = e^(-s) S_{t-1} + k v^T."""
    return driving(
        steps["query_features"],
        steps["key_features"],
        steps["value_features"],
        log_decay=steps["log_decay"][..., None],
        scale=setup.scale,
    )


def dimensions(
    d_model: int,
    n_heads: int = 4,
    head_dim: int | None = None,
    v_head_dim: int | None = None,
    layer: int = 1,
    n_layers: int = 80,
) -> dict[str, int]:
    """layer counts from 1; MiniMax-01 has 80. head_dim defaults to d_model / n_heads."""
    sizes = mixer_dimensions(d_model, n_heads, head_dim, v_head_dim)
    if positive("layer", layer) > positive("n_layers", n_layers):
        raise AttnvizError(f"layer must be at most n_layers = {n_layers}; received {layer}.")
    return sizes | {"layer": layer, "n_layers": n_layers}


def describe(setup: Setup) -> dict[str, StepText]:
    """What each step is called, and how it came about."""
    return (
        mixer_projections(setup)
        | feature_steps(
            setup,
            r"\mathrm{SiLU}",
            "x sigmoid(x) of each component: negative ones nearly vanish.",
            ("query", "key", "value"),
        )
        | decay_steps(
            r"g_h = -s_h", "The logarithm of the decay: constant, steeper in early heads.", ()
        )
        | state_steps(
            setup,
            write=r"u_t = \hat{v}_t",
            state=r"S_t = e^{-s_h} S_{t-1} + \hat{k}_t \hat{v}_t^\top",
            map_=r"A_h[i,j] = e^{-s_h (i-j)}\, \hat{q}_i^\top \hat{k}_j",
            value="value_features",
        )
    )


VARIANT = recurrent_variant(
    name="lightning",
    title="Lightning attention",
    source="MiniMax 2025, MiniMax-01, section 2.2 (arXiv:2501.08313)",
    prepare=prepare,
    recurrence=recurrence,
    dimensions=dimensions,
    parameters=mixer_parameters,
    describe=describe,
    parts=(slopes,),
    scaled=False,
)

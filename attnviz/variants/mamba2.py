"""Mamba-2's state-space mixer in attention's words (Dao and Gu 2024, section 3 and 5).

S_t = exp(Delta_t A) S_{t-1} + Delta_t B_t x_t^T, y_t = S_t^T C_t + D x_t: C asks as a query, B is
the key and x the value. The step Delta, set by each token, both fades the state and scales the
write. The block's short convolution, gate and norm are outside of what is computed here.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from jaxtyping import Float
from torch import Tensor

from attnviz.variants.gates import decay_parameters, shared_keys, step_size
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
    mixer_projections,
    state_steps,
    strength_step,
)
from attnviz.variants.recurrence import Recurrence
from attnviz.variants.variant import Setup, StepText, Tensors


def prepare(
    x: Float[Tensor, "batch length d_model"], W: Mapping[str, Tensor], setup: Setup
) -> Tensors:
    """Projections (C, B and x), the step Delta, and the decay that it makes."""
    steps = project_mixer(x, W, setup)
    delta = step_size(x, W)
    steps["step_size"] = delta.mT  # (B, H, T)
    steps["log_decay"] = (-W["A_log"].exp() * delta).mT  # Delta A
    steps["decay"] = steps["log_decay"].exp()
    return steps


def recurrence(steps: Mapping[str, Tensor], W: Mapping[str, Tensor], setup: Setup) -> Recurrence:
    """S_t = exp(Delta_t A) S_{t-1} + Delta_t B_t x_t^T, and D x_t beside the state."""
    query, key = placed(steps)
    return driving(
        query,
        key,
        steps["value_heads"],
        log_decay=steps["log_decay"][..., None],
        strength=steps["step_size"],
        scale=setup.scale,
        skip=W["D"],
    )


def dimensions(
    d_model: int,
    n_heads: int = 4,
    n_key_heads: int | None = None,
    head_dim: int | None = None,
    v_head_dim: int | None = None,
) -> dict[str, int]:
    """head_dim is the state size N, v_head_dim the head's P; n_key_heads are the groups of B, C."""
    sizes = mixer_dimensions(d_model, n_heads, head_dim, v_head_dim)
    return sizes | {"n_key_heads": shared_keys(sizes["n_heads"], n_key_heads)}


def parameters(d_model: int, seed: int, sizes: Mapping[str, int]) -> Tensors:
    """Those of every mixer, W_dt (d_model, H), A_log, dt_bias (H), and D (H), which starts at 1."""
    H = sizes["n_heads"]
    skip = {"D": torch.ones(H, dtype=torch.float64)}
    return mixer_parameters(d_model, seed, sizes) | decay_parameters(d_model, seed, H) | skip


def describe(setup: Setup) -> dict[str, StepText]:
    """What each step is called, and how it came about."""
    delta = strength_step(
        r"\Delta_h",
        r"\Delta_h = \mathrm{softplus}(X W^{dt}_h + b_h)",
        "How long each token lasts: a long one writes much and lets the past fade.",
        ("inputs", "W_dt", "dt_bias"),
    )
    return (
        mixer_projections(setup)
        | {"step_size": delta}
        | decay_steps(
            r"g_h = -e^{a_h} \Delta_h",
            "The logarithm of the decay: Delta A.",
            ("step_size", "A_log"),
        )
        | state_steps(
            setup,
            write=r"u_t = \Delta_t v_t",
            state=r"S_t = e^{g_t} S_{t-1} + k_t u_t^\top",
            map_=r"A_h[i,j] = q_i^\top k_j\, e^{g_{j+1} + \dots + g_i} \Delta_j + D_h\, [i = j]",
        )
    )


VARIANT = recurrent_variant(
    name="mamba2",
    title="Mamba-2",
    source="Dao and Gu 2024, Transformers are SSMs, sections 3 and 5 (arXiv:2405.21060)",
    prepare=prepare,
    recurrence=recurrence,
    dimensions=dimensions,
    parameters=parameters,
    describe=describe,
    parts=(step_size,),
    scaled=False,
)

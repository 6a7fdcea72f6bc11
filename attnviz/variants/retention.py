"""Retention: linear attention that fades at a constant rate (Sun et al. 2023, section 2.1).

S_n = gamma S_{n-1} + k_n v_n^T, o_n = S_n^T q_n. Each head has one gamma = 1 - 2^(-5 - h), so some
heads look near and some far. The paper's rotation of queries and keys is a rotary run's, and its
group norm and gate come after what is computed here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import torch
from jaxtyping import Float
from torch import Tensor

from attnviz.trace import Origin
from attnviz.variants.mixer import (
    driving,
    mixer_dimensions,
    mixer_parameters,
    placed,
    project_mixer,
    recurrent_variant,
)
from attnviz.variants.mixer_text import decay_steps, mixer_projections, state_steps
from attnviz.variants.recurrence import Recurrence
from attnviz.variants.variant import Setup, StepText, Tensors


def prepare(
    x: Float[Tensor, "batch length d_model"], W: Mapping[str, Tensor], setup: Setup
) -> Tensors:
    """Projections, and the constant decay."""
    steps = project_mixer(x, W, setup)
    decay = gamma(setup.dimensions["n_heads"]).to(x)
    steps["decay"] = decay[:, None].expand(x.shape[0], -1, x.shape[1])  # (B, H, T)
    return steps


def gamma(n_heads: int) -> Float[Tensor, " {n_heads}"]:
    """1 - 2^(-5 - h) for h = 0, 1, .. (equation 8)."""
    return 1 - 2.0 ** (-5 - torch.arange(n_heads, dtype=torch.float64))


def recurrence(steps: Mapping[str, Tensor], W: Mapping[str, Tensor], setup: Setup) -> Recurrence:
    """S_t = gamma S_{t-1} + k v^T (equation 6)."""
    query, key = placed(steps)
    return driving(
        query,
        key,
        steps["value_heads"],
        log_decay=steps["decay"].log()[..., None],
        scale=setup.scale,
    )


def dimensions(
    d_model: int, n_heads: int = 4, head_dim: int | None = None, v_head_dim: int | None = None
) -> dict[str, int]:
    """head_dim defaults to d_model / n_heads, v_head_dim to head_dim."""
    return mixer_dimensions(d_model, n_heads, head_dim, v_head_dim)


def describe(setup: Setup) -> dict[str, StepText]:
    """What each step is called, and how it came about."""
    decay = decay_steps("", "", ())["decay"]
    constant = replace(decay, formula=r"\alpha_h = 1 - 2^{-5-h}", origin=Origin())
    return (
        mixer_projections(setup)
        | {"decay": constant}
        | state_steps(
            setup,
            write="u_t = v_t",
            state=r"S_t = \alpha_h S_{t-1} + k_t v_t^\top",
            map_=r"A_h[i,j] = s\, \alpha_h^{i-j}\, q_i^\top k_j",
        )
    )


VARIANT = recurrent_variant(
    name="retention",
    title="Retention",
    source="Sun et al. 2023, Retentive network, section 2.1 (arXiv:2307.08621)",
    prepare=prepare,
    recurrence=recurrence,
    dimensions=dimensions,
    parameters=mixer_parameters,
    describe=describe,
    parts=(gamma,),
)

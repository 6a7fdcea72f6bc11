"""DeltaNet: write only what the state does not know yet (Schlag et al. 2021; Yang et al. 2024).

S_t = (I - beta_t k_t k_t^T) S_{t-1} + beta_t k_t v_t^T: the state is asked what it holds under
k_t, and the difference to v_t, times beta, is written. Keys have length 1. The papers' short
convolutions with their SiLU, output norm and gate are outside of what is computed here.
"""

from __future__ import annotations

from collections.abc import Mapping

from jaxtyping import Float
from torch import Tensor

from attnviz.variants.gates import at_most_two, unit_length, write_strength
from attnviz.variants.mixer import (
    driving,
    mixer_dimensions,
    mixer_parameters,
    placed,
    project_mixer,
    recurrent_variant,
)
from attnviz.variants.mixer_text import feature_steps, mixer_projections, state_steps, strength_step
from attnviz.variants.parameters import head_columns
from attnviz.variants.recurrence import Recurrence
from attnviz.variants.variant import Setup, StepText, Tensors


def prepare(
    x: Float[Tensor, "batch length d_model"], W: Mapping[str, Tensor], setup: Setup
) -> Tensors:
    """Projections, queries and keys of length 1, and beta."""
    steps = project_mixer(x, W, setup)
    query, key = placed(steps)
    steps["query_features"] = unit_length(query)
    steps["key_features"] = unit_length(key)
    steps["beta"] = write_strength(x, W["W_beta"], setup.dimensions["beta_max"])  # (B, H, T)
    return steps


def recurrence(steps: Mapping[str, Tensor], W: Mapping[str, Tensor], setup: Setup) -> Recurrence:
    """u_t = beta_t (v_t - S_{t-1}^T k_t), and nothing fades."""
    return driving(
        steps["query_features"],
        steps["key_features"],
        steps["value_heads"],
        strength=steps["beta"],
        scale=setup.scale,
        erases=True,
    )


def dimensions(
    d_model: int,
    n_heads: int = 4,
    head_dim: int | None = None,
    v_head_dim: int | None = None,
    beta_max: int = 1,
) -> dict[str, int]:
    """head_dim defaults to d_model / n_heads, v_head_dim to head_dim; beta_max is 1 or 2."""
    sizes = mixer_dimensions(d_model, n_heads, head_dim, v_head_dim)
    return sizes | {"beta_max": at_most_two(beta_max)}


def parameters(d_model: int, seed: int, sizes: Mapping[str, int]) -> Tensors:
    """Those of every mixer, and W_beta (d_model, H)."""
    W_beta = head_columns("W_beta", seed, sizes["n_heads"], d_model, 1)
    return mixer_parameters(d_model, seed, sizes) | {"W_beta": W_beta}


def delta_steps(setup: Setup) -> dict[str, StepText]:
    """What all delta rules tell alike: projections, unit length, and beta."""
    top = setup.dimensions["beta_max"]
    function = r"\mathrm{unit}"
    unit = feature_steps(setup, function, "Made one long, so that a key erases only itself.")
    beta = strength_step(
        r"\beta_h",
        rf"\beta_h = {'' if top == 1 else top}\sigma(X W^\beta_h)",
        f"How much of the difference is written, from 0 to {top}: at 1 the new value replaces the "
        f"old one.",
        ("inputs", "W_beta"),
    )
    return mixer_projections(setup) | unit | {"beta": beta}


def describe(setup: Setup) -> dict[str, StepText]:
    """What each step is called, and how it came about."""
    return delta_steps(setup) | state_steps(
        setup,
        write=r"u_t = \beta_t\, (v_t - S_{t-1}^\top k_t)",
        state=r"S_t = S_{t-1} + k_t u_t^\top",
        map_=r"A_h = s\, \mathrm{tril}(Q K^\top) "
        r"(I + \mathrm{tril}(\beta K K^\top, -1))^{-1} \beta",
    )


VARIANT = recurrent_variant(
    name="delta_rule",
    title="DeltaNet",
    source="Yang et al. 2024, Parallelizing linear transformers with the delta rule, section 2.2 "
    "(arXiv:2406.06484)",
    prepare=prepare,
    recurrence=recurrence,
    dimensions=dimensions,
    parameters=parameters,
    describe=describe,
    parts=(unit_length, write_strength),
)

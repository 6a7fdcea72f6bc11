"""Gated DeltaNet: the delta rule on a state that fades (Yang et al. 2024, arXiv:2412.06464).

S_t = alpha_t (I - beta_t k_t k_t^T) S_{t-1} + beta_t k_t v_t^T, with alpha_t = exp(g_t) one number
a head and token: first the state fades, then what is left of it is asked and corrected. Fewer
query and key heads than value heads are shared by neighbours, as in Qwen3-Next. Short
convolutions with their SiLU, output norm and gate are outside of what is computed here.
"""

from __future__ import annotations

from collections.abc import Mapping

from jaxtyping import Float
from torch import Tensor

from attnviz.variants.delta_rule import delta_steps
from attnviz.variants.delta_rule import parameters as delta_parameters
from attnviz.variants.delta_rule import prepare as delta_prepare
from attnviz.variants.gates import (
    at_most_two,
    decay_parameters,
    head_decay,
    shared_keys,
    step_size,
    unit_length,
    write_strength,
)
from attnviz.variants.mixer import (
    driving,
    mixer_dimensions,
    recurrent_variant,
)
from attnviz.variants.mixer_text import decay_steps, state_steps
from attnviz.variants.recurrence import Recurrence
from attnviz.variants.variant import Setup, StepText, Tensors


def prepare(
    x: Float[Tensor, "batch length d_model"], W: Mapping[str, Tensor], setup: Setup
) -> Tensors:
    """What the delta rule prepares, and the decay."""
    steps = delta_prepare(x, W, setup)
    steps["log_decay"] = head_decay(x, W)  # (B, H, T)
    steps["decay"] = steps["log_decay"].exp()
    return steps


def recurrence(steps: Mapping[str, Tensor], W: Mapping[str, Tensor], setup: Setup) -> Recurrence:
    """u_t = beta_t (v_t - alpha_t S_{t-1}^T k_t), equation 10."""
    return driving(
        steps["query_features"],
        steps["key_features"],
        steps["value_heads"],
        log_decay=steps["log_decay"][..., None],
        strength=steps["beta"],
        scale=setup.scale,
        erases=True,
    )


def dimensions(
    d_model: int,
    n_heads: int = 4,
    n_key_heads: int | None = None,
    head_dim: int | None = None,
    v_head_dim: int | None = None,
    beta_max: int = 1,
) -> dict[str, int]:
    """n_key_heads defaults to n_heads, head_dim to d_model / n_heads, v_head_dim to head_dim."""
    sizes = mixer_dimensions(d_model, n_heads, head_dim, v_head_dim)
    keys = shared_keys(sizes["n_heads"], n_key_heads)
    return sizes | {"n_key_heads": keys, "beta_max": at_most_two(beta_max)}


def parameters(d_model: int, seed: int, sizes: Mapping[str, int]) -> Tensors:
    """Those of the delta rule, and W_dt (d_model, H), A_log and dt_bias (H) of the decay."""
    gate = decay_parameters(d_model, seed, sizes["n_heads"])
    return delta_parameters(d_model, seed, sizes) | gate


def describe(setup: Setup) -> dict[str, StepText]:
    """What each step is called, and how it came about."""
    return (
        delta_steps(setup)
        | decay_steps(
            r"g_h = -e^{a_h}\, \mathrm{softplus}(X W^{dt}_h + b_h)",
            "The logarithm of the decay, which each token sets for itself.",
            ("inputs", "W_dt", "A_log", "dt_bias"),
        )
        | state_steps(
            setup,
            write=r"u_t = \beta_t\, (v_t - \alpha_t S_{t-1}^\top k_t)",
            state=r"S_t = \alpha_t S_{t-1} + k_t u_t^\top",
            map_=r"A_h = s\, M_{qk}\, (I + \mathrm{tril}(\beta M_{kk}, -1))^{-1} \beta",
        )
    )


VARIANT = recurrent_variant(
    name="gated_delta_rule",
    title="Gated DeltaNet",
    source="Yang et al. 2024, Gated delta networks, section 3 (arXiv:2412.06464)",
    prepare=prepare,
    recurrence=recurrence,
    dimensions=dimensions,
    parameters=parameters,
    describe=describe,
    parts=(delta_prepare, unit_length, write_strength, head_decay, step_size),
)

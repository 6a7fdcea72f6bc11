"""Kimi Delta Attention: a delta rule whose channels fade apart (Kimi Linear, equations 1 to 10).

S_t = (I - beta_t k_t k_t^T) Diag(alpha_t) S_{t-1} + beta_t k_t v_t^T: alpha_t has a number for each
key channel, so a head can keep some of what it holds while it forgets the rest. The projection to
them, of low rank in the model, is a full matrix here. Short convolutions with their SiLU, output
norm and gate are outside of what is computed here.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from attnviz.variants.delta_rule import delta_steps, dimensions
from attnviz.variants.delta_rule import parameters as delta_parameters
from attnviz.variants.delta_rule import prepare as delta_prepare
from attnviz.variants.gates import decay_parameters, unit_length, write_strength
from attnviz.variants.heads import split_heads
from attnviz.variants.mixer import (
    driving,
    recurrent_variant,
)
from attnviz.variants.mixer_text import decay_steps, state_steps
from attnviz.variants.recurrence import Recurrence
from attnviz.variants.variant import Setup, StepText, Tensors


def prepare(
    x: Float[Tensor, "batch length d_model"], W: Mapping[str, Tensor], setup: Setup
) -> Tensors:
    """What the delta rule prepares, and each channel's decay."""
    steps = delta_prepare(x, W, setup)
    steps["log_decay"] = channel_decay(x, W, setup.options["gate"])  # (B, H, T, d_k)
    steps["decay"] = steps["log_decay"].exp()
    return steps


def channel_decay(
    x: Float[Tensor, "batch length d_model"], W: Mapping[str, Tensor], gate: str
) -> Float[Tensor, "batch heads length d_k"]:
    """g = -exp(A_log) softplus(z), or the safe gate -5 sigmoid(exp(A_log) z), never below -5."""
    H = W["A_log"].shape[0]
    z = split_heads(x @ W["W_dt"] + W["dt_bias"], H)
    rate = W["A_log"].exp()[:, None, None]
    return -5 * torch.sigmoid(rate * z) if gate == "safe" else -rate * F.softplus(z)


def recurrence(steps: Mapping[str, Tensor], W: Mapping[str, Tensor], setup: Setup) -> Recurrence:
    """The state fades channel by channel, then the delta rule corrects it (equation 1)."""
    return driving(
        steps["query_features"],
        steps["key_features"],
        steps["value_heads"],
        log_decay=steps["log_decay"],
        strength=steps["beta"],
        scale=setup.scale,
        erases=True,
    )


def parameters(d_model: int, seed: int, sizes: Mapping[str, int]) -> Tensors:
    """Those of the delta rule, and W_dt (d_model, H d_k), A_log (H), dt_bias (H d_k)."""
    gate = decay_parameters(d_model, seed, sizes["n_heads"], sizes["head_dim"])
    return delta_parameters(d_model, seed, sizes) | gate


def describe(setup: Setup) -> dict[str, StepText]:
    """What each step is called, and how it came about."""
    formula = (
        r"g_h = -5\, \sigma(e^{a_h} (X W^{dt}_h + b_h))"
        if setup.options["gate"] == "safe"
        else r"g_h = -e^{a_h}\, \mathrm{softplus}(X W^{dt}_h + b_h)"
    )
    return (
        delta_steps(setup)
        | decay_steps(
            formula,
            "The logarithm of the decay, which each token sets for every key channel.",
            ("inputs", "W_dt", "A_log", "dt_bias"),
            channels=True,
        )
        | state_steps(
            setup,
            write=r"u_t = \beta_t\, (v_t - (\mathrm{Diag}(\alpha_t) S_{t-1})^\top k_t)",
            state=r"S_t = \mathrm{Diag}(\alpha_t) S_{t-1} + k_t u_t^\top",
            map_=r"A_h = s\, M_{qk}\, (I + \mathrm{tril}(\beta M_{kk}, -1))^{-1} \beta",
        )
    )


VARIANT = recurrent_variant(
    name="kimi_delta",
    title="Kimi Delta Attention",
    source="Kimi Team 2025, Kimi Linear, section 3 (arXiv:2510.26692)",
    prepare=prepare,
    recurrence=recurrence,
    dimensions=dimensions,
    parameters=parameters,
    describe=describe,
    parts=(delta_prepare, unit_length, write_strength, channel_decay),
    options={"gate": ("softplus", "safe")},
)

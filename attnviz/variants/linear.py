"""Kernelised linear attention (Katharopoulos et al. 2020, sections 3.2 and 3.3).

The softmax's exp(q k) is replaced by phi(q) phi(k) with phi positive. The products can then be
re-associated: (phi(Q) phi(K)^T) V makes a map of all tokens by all tokens, phi(Q) (phi(K)^T V)
never does. With a causal mask both sums run up to the query's own token, the normaliser's too.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from jaxtyping import Float
from torch import Tensor

from attnviz.variants.mixer import (
    driving,
    mixer_dimensions,
    mixer_parameters,
    placed,
    project_mixer,
    recurrent_variant,
)
from attnviz.variants.mixer_text import feature_steps, mixer_projections, state_steps
from attnviz.variants.recurrence import Recurrence
from attnviz.variants.variant import Setup, StepText, Tensors

FEATURE_MAPS = {
    "elu": (r"\mathrm{elu}+1", "elu(x) + 1 makes every channel positive, as weights must be."),
    "relu": (
        r"\mathrm{relu}+10^{-3}",
        "relu(x) + 0.001 (Choromanski et al. 2021): most negative channels become alike.",
    ),
    "exp": (r"\exp", "exp(x) of each channel: large components win, as in a softmax."),
    "softmax": (
        r"\mathrm{softmax}",
        "A softmax over each token's own channels (Shen et al. 2021).",
    ),
}
"""LaTeX and a sentence for each feature map phi."""


def feature_map(x: Float[Tensor, "*batch d_k"], name: str) -> Float[Tensor, "*batch d_k"]:
    """phi, positive in every channel so that the normaliser is never 0."""
    if name == "elu":
        return torch.where(x > 0, x + 1, x.exp())  # elu(x) + 1, without 1 - 1 for very negative x
    if name == "relu":
        return x.relu() + 1e-3
    return x.exp() if name == "exp" else x.softmax(dim=-1)


def quadratic(
    query: Float[Tensor, "*batch length d_k"],
    key: Float[Tensor, "*batch length d_k"],
    value: Float[Tensor, "*batch length d_v"],
) -> Float[Tensor, "*batch length d_v"]:
    """The form that makes the map: every row of tril(phi(Q) phi(K)^T) made to add up to 1.

    query and key are features; equation 4. For comparing, never for running.
    """
    scores = (query @ key.mT).tril()
    return (scores / scores.sum(-1, keepdim=True)) @ value


def prepare(
    x: Float[Tensor, "batch length d_model"], W: Mapping[str, Tensor], setup: Setup
) -> Tensors:
    """Projections, and the features of queries and keys."""
    steps = project_mixer(x, W, setup)
    query, key = placed(steps)
    chosen = setup.options["feature_map"]
    features = {
        "query_features": feature_map(query, chosen),
        "key_features": feature_map(key, chosen),
    }
    return steps | features


def recurrence(steps: Mapping[str, Tensor], W: Mapping[str, Tensor], setup: Setup) -> Recurrence:
    """S_t = S_{t-1} + phi(k) v^T, nothing fades (equations 18 to 20); z_t is its last column."""
    return driving(
        steps["query_features"],
        steps["key_features"],
        steps["value_heads"],
        scale=setup.scale,  # in numerator and normaliser alike: it cancels
        normalised=True,
    )


def dimensions(
    d_model: int, n_heads: int = 4, head_dim: int | None = None, v_head_dim: int | None = None
) -> dict[str, int]:
    """head_dim defaults to d_model / n_heads, v_head_dim to head_dim."""
    return mixer_dimensions(d_model, n_heads, head_dim, v_head_dim)


def describe(setup: Setup) -> dict[str, StepText]:
    """What each step is called, and how it came about."""
    phi, note = FEATURE_MAPS[setup.options["feature_map"]]
    return (
        mixer_projections(setup)
        | feature_steps(setup, rf"({phi})", note)
        | state_steps(
            setup,
            write=r"u_t = [\,v_t,\ 1\,]",
            state=r"S_t = S_{t-1} + \phi(k_t)\, [\,v_t,\ 1\,]^\top",
            map_=r"A_h[i,j] = \phi(q_i)^\top \phi(k_j) \,/\, "
            r"\textstyle\sum_{l \le i} \phi(q_i)^\top \phi(k_l)",
        )
    )


VARIANT = recurrent_variant(
    name="linear",
    title="Linear attention",
    source="Katharopoulos et al. 2020, Transformers are RNNs, section 3 (arXiv:2006.16236)",
    prepare=prepare,
    recurrence=recurrence,
    dimensions=dimensions,
    parameters=mixer_parameters,
    describe=describe,
    parts=(feature_map,),
    scaled=False,
    normalised=True,
    options={"feature_map": tuple(FEATURE_MAPS)},
)

"""Gated latent attention: latent attention whose heads a sigmoid gate lets through or holds back.

The gate is read off the token that asks, acts on each head's output before the output projection,
and is one number a head (Ling 3) or one a channel (Qiu et al. 2025, Gated attention, section 2.2,
position G1, arXiv:2505.06708). It gives attention a way to say "nothing here" without a sink.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from jaxtyping import Bool, Float
from torch import Tensor

from attnviz.trace import Origin
from attnviz.variants import latent
from attnviz.variants.heads import join_heads, split_heads
from attnviz.variants.parameters import head_columns
from attnviz.variants.softmax import attend, hide, softmax, weigh
from attnviz.variants.variant import Setup, StepText, Tensors, Variant

AFTER = ("transposed", "concatenated", "output")
"""Steps that come after the gate."""


def compute(
    x: Float[Tensor, "batch queries d_model"],
    context: Float[Tensor, "batch keys d_model"],
    W: Mapping[str, Tensor],
    allowed: Bool[Tensor, "#batch #heads queries keys"] | None,
    setup: Setup,
) -> Tensors:
    """All heads, every step kept."""
    return gated(x, latent.compute(x, context, W, allowed, setup), W, setup)


def fused(
    x: Float[Tensor, "batch queries d_model"],
    context: Float[Tensor, "batch keys d_model"],
    W: Mapping[str, Tensor],
    allowed: Bool[Tensor, "#batch #heads queries keys"] | None,
    setup: Setup,
) -> Tensors:
    """The same output from PyTorch's fused kernel."""
    return gated(x, latent.fused(x, context, W, allowed, setup), W, setup)


def gated(
    x: Float[Tensor, "batch queries d_model"],
    steps: Mapping[str, Tensor],
    W: Mapping[str, Tensor],
    setup: Setup,
) -> Tensors:
    """The steps of latent attention up to the heads, then the gate, and the output of what is left.

    The gate is (B, H, T_q, 1) or (B, H, T_q, d_v).
    """
    before = {word: steps[word] for word in steps if word not in AFTER}
    gate = split_heads(x @ W["W_g"], setup.dimensions["n_heads"]).sigmoid()
    joined = join_heads(steps["heads"] * gate, W)
    return before | {"gate": gate, "gated_heads": joined.pop("heads")} | joined


def gate_parameters(
    d_model: int, seed: int, sizes: Mapping[str, int], options: Mapping[str, str]
) -> Tensors:
    """W_g (d_model, H) or (d_model, H d_v)."""
    width = 1 if options["gate"] == "head" else sizes["v_head_dim"]
    return {"W_g": head_columns("W_g", seed, sizes["n_heads"], d_model, width)}


def describe(setup: Setup) -> dict[str, StepText]:
    """What each step is called, and how it came about."""
    each = "head" if setup.options["gate"] == "head" else "channel of each head"
    steps = latent.describe(setup)
    steps["gate"] = StepText(
        ("batch", "head", "query", "gate" if each == "head" else "value_channel"),
        "other",
        "G_h",
        r"[\,G_1, \dots, G_H\,] = \sigma(X W^G)",
        f"How much the token that asks lets through, from 0 to 1, for each {each}.",
        Origin("formula", ("inputs", "W_g")),
    )
    steps["gated_heads"] = StepText(
        ("batch", "head", "query", "value_channel"),
        "output",
        r"\hat{O}_h",
        r"\hat{O}_h = G_h \odot O_h",
        "Each head's output, as far as the gate is open. The weights do not know of the gate.",
        Origin("formula", ("gate", "heads")),
    )
    steps["transposed"] = replace(
        steps["transposed"],
        formula=r"O^\top[t, h] = \hat{O}_h[t]",
        origin=Origin("formula", ("gated_heads",)),
    )
    steps["concatenated"] = StepText(
        ("batch", "query", "all_output_channel"),
        "output",
        r"\bar{O}",
        r"\bar{O} = [\,\hat{O}_1, \dots, \hat{O}_H\,]",
        "The heads' gated outputs, side by side.",
        Origin("concatenate", ("gated_heads",)),
    )
    return steps


VARIANT = Variant(
    name="gated_latent",
    title="Gated latent attention",
    source="Qiu et al. 2025, Gated attention for large language models, section 2.2 "
    "(arXiv:2505.06708), on DeepSeek-V2's latent attention",
    compute=compute,
    fused=fused,
    dimensions=latent.dimensions,
    parameters=latent.parameters,
    describe=describe,
    parts=(latent.compute, latent.project_latent, attend, weigh, hide, softmax, gated, join_heads),
    options={"gate": ("head", "channel"), **latent.YARN},
    optional_parameters=gate_parameters,
)

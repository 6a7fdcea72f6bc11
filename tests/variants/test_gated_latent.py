"""The gate against Ling's layer, and DeepSeek-V3's with a gate hooked before its output."""

from __future__ import annotations

import pytest
import torch

import attnviz as av
from attnviz import masks
from tests.variants.cases import answering, asking, largest_difference
from tests.variants.deepseek import LING, V3, theirs
from tests.variants.test_latent import SIZES, TOLERANCE, rotary


@pytest.mark.parametrize("dtype", TOLERANCE)
def test_a_gate_for_each_head_is_lings(dtype: str) -> None:
    trace = av.run("gated_latent", rotary(dtype), mask=masks.causal(), gate="head", **SIZES)
    output, weights = theirs(LING, trace, masks.causal())
    assert trace["gate"].shape == (2, 3, 7, 1)
    assert largest_difference(trace.weights, weights) < TOLERANCE[dtype]
    assert largest_difference(trace.output, output) < 2 * TOLERANCE[dtype]


@pytest.mark.parametrize("dtype", TOLERANCE)
def test_a_gate_for_each_channel_comes_before_the_output_projection(dtype: str) -> None:
    x = rotary(dtype)
    trace = av.run("gated_latent", x, mask=masks.causal(), gate="channel", **SIZES)
    gate = torch.sigmoid(x.embeddings @ trace.parameters["W_g"])
    output, _ = theirs(V3, trace, masks.causal(), before_output=lambda heads: heads * gate)
    assert trace["gate"].shape == (2, 3, 7, 6)
    assert largest_difference(trace.output, output) < 2 * TOLERANCE[dtype]


@pytest.mark.parametrize("gate", ["head", "channel"])
@pytest.mark.parametrize("context", [None, answering("float64")], ids=["self", "cross"])
def test_fused_kernel_agrees(context, gate: str) -> None:
    common = {"context": context, "gate": gate, **SIZES}
    reference = av.run("gated_latent", asking("float64"), **common)
    fused = av.run("gated_latent", asking("float64"), kernel="sdpa", **common)
    assert largest_difference(reference.output, fused.output) < 1e-12


def test_the_weights_are_those_without_a_gate() -> None:
    """Same seed, same projections: only what comes after the heads differs."""
    x = rotary("float64")
    gated, plain = (av.run(name, x, **SIZES) for name in ("gated_latent", "latent"))
    assert torch.equal(gated.weights, plain.weights)
    assert torch.equal(gated["heads"].tensor, plain["heads"].tensor)
    assert largest_difference(gated.output, plain.output) > 0.1

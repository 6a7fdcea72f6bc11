"""Latent attention against transformers' DeepSeek-V2 and V3."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F

import attnviz as av
from attnviz import masks
from attnviz.variants.latent import rms_norm
from tests.variants.cases import answering, asking, largest_difference
from tests.variants.deepseek import V2, V3, YARN, theirs

TOLERANCE = {"float32": 2e-6, "float64": 1e-6}  # theirs rotates and takes softmax in float32
SIZES = {
    "n_heads": 3,
    "head_dim": 12,
    "qk_rope_head_dim": 4,
    "v_head_dim": 6,
    "kv_lora_rank": 10,
    "q_lora_rank": 14,
}


def rotary(dtype: str, length: int = 7) -> av.Inputs:
    x = av.random_inputs(length, 24, batch=2, seed=1, positions="rotary")
    return av.Inputs(x.embeddings.to(getattr(torch, dtype)), positions="rotary")


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("mask", [masks.causal(), masks.sliding_window(3)], ids=str)
@pytest.mark.parametrize("model", [V2, V3], ids=["V2", "V3"])
@pytest.mark.parametrize("yarn", ["none", "40"])
def test_it_is_deepseeks(yarn: str, model, mask: masks.Mask, dtype: str) -> None:
    trace = av.run("latent", rotary(dtype), mask=mask, yarn=yarn, seed=4, **SIZES)
    output, weights = theirs(model, trace, mask, rope=None if yarn == "none" else YARN)
    assert largest_difference(trace.weights, weights) < TOLERANCE[dtype]
    assert largest_difference(trace.output, output) < 2 * TOLERANCE[dtype]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("context", [None, "cross"])
@pytest.mark.parametrize("positions", ["none", "rotary"])
def test_core_is_torchs_on_joined_queries_and_keys(positions, context, dtype) -> None:
    x = rotary(dtype) if positions == "rotary" else asking(dtype)
    other = None
    if context:
        other = rotary(dtype, 5) if positions == "rotary" else answering(dtype)
    trace = av.run("latent", x, context=other, **SIZES)
    expected = F.scaled_dot_product_attention(
        *(trace[word].tensor for word in ("query_joined", "key_joined", "value_heads"))
    )
    bound = 1e-12 if dtype == "float64" else 1e-6
    assert largest_difference(trace["heads"].tensor, expected) < bound
    fused = av.run("latent", x, context=other, kernel="sdpa", **SIZES)
    assert largest_difference(trace.output, fused.output) < 3 * bound


def test_only_the_position_channels_turn_and_one_key_serves_all_heads() -> None:
    plain = av.run("latent", av.Inputs(rotary("float64").embeddings), **SIZES)
    turned = av.run("latent", rotary("float64"), **SIZES)
    for word in ("query", "key"):
        before, after = (trace[f"{word}_joined"].tensor for trace in (plain, turned))
        assert torch.equal(before[..., :8], after[..., :8])
        assert largest_difference(before[:, :, 1:, 8:], after[:, :, 1:, 8:]) > 0.1
    keys = turned["key_joined"].tensor[..., 8:]
    assert torch.equal(keys, keys[:, :1].expand_as(keys))


def test_yarns_scale_is_a_step_that_says_so() -> None:
    x = rotary("float64")
    trace = av.run("latent", x, yarn=40, **SIZES)
    factor = (0.1 * torch.tensor(40.0, dtype=torch.float64).log() + 1) ** 2 / 12**0.5
    assert largest_difference(trace["scaled"].tensor, trace["scores"].tensor * factor) < 1e-12
    assert "1.874" in trace["scaled"].note


def test_norm_is_torchs() -> None:
    x = torch.randn(3, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    assert largest_difference(rms_norm(x), F.rms_norm(x, (5,), eps=1e-6)) < 1e-12


@pytest.mark.parametrize("qk_rope_head_dim", [3, 12, 14])
def test_position_channels_are_an_even_part(qk_rope_head_dim: int) -> None:
    with pytest.raises(
        av.AttnvizError, match=f"received qk_rope_head_dim = {qk_rope_head_dim} and head_dim = 12"
    ):
        av.run("latent", asking(), head_dim=12, qk_rope_head_dim=qk_rope_head_dim)

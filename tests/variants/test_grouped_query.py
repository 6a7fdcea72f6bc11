"""Shared key/value heads against torch's enable_gqa, and the two ends of the family."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F
from transformers.models.llama.modeling_llama import apply_rotary_pos_emb, repeat_kv

import attnviz as av
from attnviz import masks
from tests.variants.cases import (
    CROSS_MASKS,
    SELF_MASKS,
    TOLERANCE,
    answering,
    asking,
    largest_difference,
)

HEADS = 6


def torch_output(x, context, W, mask, n_kv_heads: int) -> torch.Tensor:
    def heads(sequence, matrix, count):
        return (sequence @ matrix).view(*sequence.shape[:2], count, -1).transpose(1, 2)

    output = F.scaled_dot_product_attention(
        heads(x, W["W_q"], HEADS),
        heads(context, W["W_k"], n_kv_heads),
        heads(context, W["W_v"], n_kv_heads),
        attn_mask=None if mask is None else mask.allowed(x.shape[1], context.shape[1]),
        enable_gqa=True,
    )
    return output.transpose(1, 2).reshape(*x.shape[:2], -1) @ W["W_o"]


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("n_kv_heads", [1, 2, 3, 6])
@pytest.mark.parametrize("mask", SELF_MASKS.values(), ids=SELF_MASKS.keys())
def test_self_attention_is_torchs(mask: masks.Mask | None, n_kv_heads: int, dtype: str) -> None:
    x = asking(dtype)
    trace = av.run("grouped_query", x, n_heads=HEADS, n_kv_heads=n_kv_heads, mask=mask)
    expected = torch_output(x.embeddings, x.embeddings, trace.parameters, mask, n_kv_heads)
    assert largest_difference(trace.output, expected) < TOLERANCE[dtype]


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("mask", CROSS_MASKS.values(), ids=CROSS_MASKS.keys())
def test_cross_attention_is_torchs(mask: masks.Mask | None, dtype: str) -> None:
    x, context = asking(dtype), answering(dtype)
    trace = av.run("grouped_query", x, context=context, n_heads=HEADS, n_kv_heads=2, mask=mask)
    expected = torch_output(x.embeddings, context.embeddings, trace.parameters, mask, 2)
    assert largest_difference(trace.output, expected) < TOLERANCE[dtype]


def test_neighbouring_query_heads_share_as_in_transformers() -> None:
    trace = av.run("grouped_query", asking("float64"), n_heads=HEADS, n_kv_heads=2)
    query, key = trace["query_heads"].tensor, trace["key_heads"].tensor
    scores = query @ repeat_kv(key, 3).mT
    assert largest_difference(trace["scores"].tensor, scores) < 1e-12


def test_ends_are_multi_head_and_multi_query() -> None:
    x = asking("float64")
    many = av.run("multi_head", x, n_heads=HEADS, seed=4)
    grouped = av.run("grouped_query", x, n_heads=HEADS, n_kv_heads=HEADS, seed=4)
    assert torch.equal(many.output, grouped.output)
    one = av.run("grouped_query", x, n_heads=HEADS, n_kv_heads=1, seed=4)
    single = av.run("scaled_dot_product", x, head_dim=4, seed=4)
    # The first head is the same head, however many there are.
    assert largest_difference(one.weights[:, 0], single.weights[:, 0]) < 1e-12


def test_rotary_is_llamas() -> None:
    x = av.random_inputs(6, 24, seed=1, positions="rotary")
    trace = av.run("grouped_query", x, n_heads=HEADS, n_kv_heads=2, dtype="float64")
    angles = torch.arange(6)[:, None] * 10000.0 ** (-torch.arange(0, 4, 2) / 4)
    angles = torch.cat([angles, angles], dim=-1)[None].double()
    query, key = apply_rotary_pos_emb(
        trace["query_heads"].tensor, trace["key_heads"].tensor, angles.cos(), angles.sin()
    )
    assert largest_difference(trace["query_rotated"].tensor, query) < 1e-6
    assert largest_difference(trace["key_rotated"].tensor, key) < 1e-6
    weights = torch.softmax(query @ repeat_kv(key, 3).mT / 2, dim=-1)
    assert largest_difference(trace.weights, weights) < 1e-6


@pytest.mark.parametrize("n_kv_heads", [1, 2, 6])
def test_fused_kernel_agrees(n_kv_heads: int) -> None:
    x = asking("float64")
    sizes = {"n_heads": HEADS, "n_kv_heads": n_kv_heads, "v_head_dim": 3}
    reference = av.run("grouped_query", x, mask=masks.causal(), **sizes)
    fused = av.run("grouped_query", x, mask=masks.causal(), kernel="sdpa", **sizes)
    assert largest_difference(reference.output, fused.output) < 1e-12


def test_steps_keep_the_key_heads_apart_from_the_query_heads() -> None:
    trace = av.run("grouped_query", asking(), n_heads=HEADS, n_kv_heads=2)
    assert trace["query_heads"].shape == (2, 6, 7, 4)
    assert trace["key_heads"].shape == (2, 2, 7, 4)
    assert trace["key_heads"].axes == ("batch", "kv_head", "key", "channel")
    assert "3 query heads share" in trace["key_heads"].note

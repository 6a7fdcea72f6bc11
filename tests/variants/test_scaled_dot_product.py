"""One head against torch's own attention."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F

import attnviz as av
from attnviz import masks
from tests.variants.cases import (
    CROSS_MASKS,
    KEYS,
    QUERIES,
    SELF_MASKS,
    TOLERANCE,
    answering,
    asking,
    largest_difference,
)


def torch_output(x, context, W, mask, scale=None) -> torch.Tensor:
    """The same projections through scaled_dot_product_attention, with its own default scale."""
    allowed = None
    if mask is not None:
        allowed = mask.allowed(x.shape[1], context.shape[1])[:, 0]
    W = {name: matrix.to(x.dtype) for name, matrix in W.items()}
    query, key, value = x @ W["W_q"], context @ W["W_k"], context @ W["W_v"]
    return F.scaled_dot_product_attention(query, key, value, attn_mask=allowed, scale=scale)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("mask", SELF_MASKS.values(), ids=SELF_MASKS.keys())
def test_self_attention_is_torchs(mask: masks.Mask | None, dtype: str) -> None:
    x = asking(dtype)
    sizes = {"head_dim": 8, "v_head_dim": 6}
    trace = av.run("scaled_dot_product", x, mask=mask, seed=3, **sizes)
    W = av.variants.parameters("scaled_dot_product", x.d_model, seed=3, **sizes)
    expected = torch_output(x.embeddings, x.embeddings, W, mask)
    assert trace.output.shape == (2, QUERIES, 6)
    assert largest_difference(trace.output, expected) < TOLERANCE[dtype]


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("mask", CROSS_MASKS.values(), ids=CROSS_MASKS.keys())
def test_cross_attention_is_torchs(mask: masks.Mask | None, dtype: str) -> None:
    x, context = asking(dtype), answering(dtype)
    trace = av.run("scaled_dot_product", x, context=context, mask=mask, head_dim=8)
    expected = torch_output(x.embeddings, context.embeddings, trace.parameters, mask)
    assert trace.weights.shape == (2, 1, QUERIES, KEYS)
    assert trace.is_cross
    assert largest_difference(trace.output, expected) < TOLERANCE[dtype]


@pytest.mark.parametrize("mask", SELF_MASKS.values(), ids=SELF_MASKS.keys())
def test_weights_are_torchs_softmax(mask: masks.Mask | None) -> None:
    """V = identity makes torch's output the weights themselves."""
    x = asking("float64")
    trace = av.run("scaled_dot_product", x, mask=mask)
    query, key = trace["query"].tensor, trace["key"].tensor
    allowed = None if mask is None else mask.allowed(QUERIES, QUERIES)[:, 0]
    identity = torch.eye(QUERIES, dtype=torch.float64).expand(2, -1, -1)
    expected = F.scaled_dot_product_attention(query, key, identity, attn_mask=allowed)
    assert largest_difference(trace.weights[:, 0], expected) < 1e-12


@pytest.mark.parametrize(("scale", "factor"), [(True, 8**-0.5), (False, 1.0), (0.3, 0.3)])
@pytest.mark.parametrize("temperature", [1.0, 0.25])
def test_scale_and_temperature(scale: bool | float, factor: float, temperature: float) -> None:
    x = asking("float64")
    trace = av.run("scaled_dot_product", x, scale=scale, temperature=temperature, head_dim=8)
    expected = torch_output(
        x.embeddings, x.embeddings, trace.parameters, None, scale=factor / temperature
    )
    assert largest_difference(trace.output, expected) < 1e-12
    assert trace.options["scale"] == pytest.approx(factor / temperature)


def test_steps_in_order_with_their_shapes() -> None:
    trace = av.run("scaled_dot_product", asking(), context=answering(), head_dim=8, v_head_dim=6)
    assert {step.name: step.shape for step in trace.steps} == {
        "inputs": (2, 7, 24),
        "context": (2, 5, 24),
        "query": (2, 7, 8),
        "key": (2, 5, 8),
        "value": (2, 5, 6),
        "scores": (2, 7, 5),
        "scaled": (2, 7, 5),
        "masked": (2, 7, 5),
        "weights": (2, 7, 5),
        "output": (2, 7, 6),
    }
    assert all(step.formula and step.note and step.symbol for step in trace.steps)


def test_masked_scores_are_minus_infinity_where_hidden() -> None:
    trace = av.run("scaled_dot_product", asking(), mask=masks.causal())
    hidden = trace["masked"].tensor.isneginf()
    assert torch.equal(hidden[0], torch.ones(QUERIES, QUERIES, dtype=torch.bool).triu(1))
    assert bool((trace.weights[:, 0][hidden] == 0).all())


@pytest.mark.parametrize("context", [None, answering("float64")], ids=["self", "cross"])
@pytest.mark.parametrize("mask", [None, masks.causal(), masks.padding([3, 5])], ids=str)
def test_fused_kernel_agrees(context: av.Inputs | None, mask: masks.Mask | None) -> None:
    x = asking("float64")
    common = {"mask": mask, "context": context, "head_dim": 8, "v_head_dim": 6, "scale": 0.3}
    reference = av.run("scaled_dot_product", x, **common)
    fused = av.run("scaled_dot_product", x, kernel="sdpa", **common)
    assert largest_difference(reference.output, fused.output) < 1e-12
    assert "scores" not in fused.names
    with pytest.raises(av.AttnvizError, match="kernel='reference'"):
        _ = fused.weights

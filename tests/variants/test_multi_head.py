"""Many heads against nn.MultiheadAttention."""

from __future__ import annotations

import pytest
import torch
from torch import nn

import attnviz as av
from attnviz import masks
from attnviz.variants.heads import concatenate_heads, merge_without_transpose, misplaced
from tests.variants.cases import (
    BATCH,
    CROSS_MASKS,
    D_MODEL,
    SELF_MASKS,
    TOLERANCE,
    answering,
    asking,
    largest_difference,
)

HEADS = 3


def torch_module(trace: av.Trace) -> nn.MultiheadAttention:
    """nn.MultiheadAttention with the same weights (it multiplies by the transpose)."""
    W = trace.parameters
    module = nn.MultiheadAttention(
        D_MODEL, HEADS, bias=False, batch_first=True, dtype=W["W_q"].dtype
    )
    with torch.no_grad():
        module.in_proj_weight.copy_(torch.cat([W["W_q"], W["W_k"], W["W_v"]], dim=1).T)
        module.out_proj.weight.copy_(W["W_o"].T)
    return module.eval()


def torch_result(trace: av.Trace, x: av.Inputs, context: av.Inputs, mask: masks.Mask | None):
    """(output, weights of each head)."""
    blocked = None
    if mask is not None:
        allowed = mask.allowed(x.length, context.length)
        blocked = masks.to_multihead(allowed, BATCH, HEADS)
    with torch.no_grad():
        return torch_module(trace)(
            x.embeddings,
            context.embeddings,
            context.embeddings,
            attn_mask=blocked,
            average_attn_weights=False,
        )


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("mask", SELF_MASKS.values(), ids=SELF_MASKS.keys())
def test_self_attention_is_torchs(mask: masks.Mask | None, dtype: str) -> None:
    x = asking(dtype)
    trace = av.run("multi_head", x, n_heads=HEADS, mask=mask, seed=5)
    output, weights = torch_result(trace, x, x, mask)
    assert largest_difference(trace.output, output) < TOLERANCE[dtype]
    assert largest_difference(trace.weights, weights) < TOLERANCE[dtype]


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("mask", CROSS_MASKS.values(), ids=CROSS_MASKS.keys())
def test_cross_attention_is_torchs(mask: masks.Mask | None, dtype: str) -> None:
    x, context = asking(dtype), answering(dtype)
    trace = av.run("multi_head", x, context=context, n_heads=HEADS, mask=mask)
    output, weights = torch_result(trace, x, context, mask)
    assert largest_difference(trace.output, output) < TOLERANCE[dtype]
    assert largest_difference(trace.weights, weights) < TOLERANCE[dtype]


def test_a_mask_for_each_head() -> None:
    x = asking("float64")
    by_head = torch.ones(1, HEADS, x.length, x.length, dtype=torch.bool).tril()
    by_head[:, 1] = True
    trace = av.run("multi_head", x, n_heads=HEADS, mask=by_head)
    output, weights = torch_result(trace, x, x, masks.from_tensor(by_head))
    assert largest_difference(trace.output, output) < 1e-12
    assert largest_difference(trace.weights, weights) < 1e-12
    assert float(trace.weights[0, 1, 0, -1]) > 0 == float(trace.weights[0, 0, 0, -1])


def test_three_axes_are_examples_even_when_there_are_as_many_heads() -> None:
    """B = H: broadcasting would take (B, T, T) for one mask a head, silently."""
    x = asking()
    by_example = torch.ones(BATCH, x.length, x.length, dtype=torch.bool)
    by_example[1] = by_example[1].tril()
    trace = av.run("multi_head", x, n_heads=BATCH, mask=by_example)
    assert bool((trace.weights[0] > 0).all())  # both heads of example 0 see everything
    assert bool((trace.weights[1].triu(1) == 0).all())  # both heads of example 1 look back only


def test_steps_in_order_with_their_shapes() -> None:
    trace = av.run("multi_head", asking(), context=answering(), n_heads=4, head_dim=5, v_head_dim=3)
    assert {step.name: step.shape for step in trace.steps} == {
        "inputs": (2, 7, 24),
        "context": (2, 5, 24),
        "query": (2, 7, 20),
        "key": (2, 5, 20),
        "value": (2, 5, 12),
        "query_heads": (2, 4, 7, 5),
        "key_heads": (2, 4, 5, 5),
        "value_heads": (2, 4, 5, 3),
        "scores": (2, 4, 7, 5),
        "scaled": (2, 4, 7, 5),
        "masked": (2, 4, 7, 5),
        "weights": (2, 4, 7, 5),
        "heads": (2, 4, 7, 3),
        "transposed": (2, 7, 4, 3),
        "concatenated": (2, 7, 12),
        "output": (2, 7, 24),
    }
    assert all(step.formula and step.note and step.symbol for step in trace.steps)


@pytest.mark.parametrize("mask", [None, masks.causal(), masks.padding([3, 5])], ids=str)
def test_fused_kernel_agrees(mask: masks.Mask | None) -> None:
    x = asking("float64")
    reference = av.run("multi_head", x, n_heads=HEADS, mask=mask)
    fused = av.run("multi_head", x, n_heads=HEADS, mask=mask, kernel="sdpa")
    assert largest_difference(reference.output, fused.output) < 1e-12


def test_without_the_transpose_tokens_and_heads_get_mixed() -> None:
    """The shapes fit and nothing fails; each number still is some head's, at another token."""
    trace = av.run("multi_head", asking("float64"), n_heads=HEADS, mask=masks.causal())
    split = trace["heads"].tensor
    right, wrong = trace["concatenated"].tensor, merge_without_transpose(split)
    assert torch.equal(trace["transposed"].tensor, split.transpose(1, 2))
    assert torch.equal(right, torch.cat(list(split.unbind(1)), dim=-1))
    assert torch.equal(concatenate_heads(split), right)
    assert wrong.shape == right.shape
    assert torch.equal(*(merged.flatten(1).sort().values for merged in (wrong, right)))
    assert bool((wrong != right)[:, misplaced(HEADS, 7, 8)].all())


def test_misplaced_says_which_cells_hold_another_token() -> None:
    n_heads, length, d = 2, 3, 2
    cells = [(h, t, c) for h in range(n_heads) for t in range(length) for c in range(d)]
    expected = [
        [cells[row * n_heads * d + col][1] != row for col in range(n_heads * d)]
        for row in range(length)
    ]
    assert misplaced(n_heads, length, d).tolist() == expected
    assert not bool(misplaced(1, length, d).any())  # one head: nothing to mix


def test_without_the_transpose_the_future_leaks() -> None:
    x = asking("float64")
    changed = x.embeddings.clone()
    changed[:, -1] += 1.0
    merged = [
        merge_without_transpose(
            av.run("multi_head", av.Inputs(e), n_heads=HEADS, mask=masks.causal())["heads"].tensor
        )
        for e in (x.embeddings, changed)
    ]
    assert largest_difference(merged[0][:, :-1], merged[1][:, :-1]) > 0.1

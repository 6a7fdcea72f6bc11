"""Additive attention against the equations of the paper, written pair by pair."""

from __future__ import annotations

import pytest
import torch

import attnviz as av
from attnviz import masks
from attnviz.variants import additive
from tests.variants.cases import (
    CROSS_MASKS,
    SELF_MASKS,
    TOLERANCE,
    answering,
    asking,
    largest_difference,
)


def of_the_paper(s, h, W, mask) -> tuple[torch.Tensor, torch.Tensor]:
    """(weights, output): equations 5 and 6, by one broadcast over all pairs, in float64."""
    s, h, W_a, U_a, v_a = (x.double() for x in (s, h, W["W_q"], W["W_k"], W["v_a"]))
    hidden = torch.tanh(
        torch.einsum("bin,na->bia", s, W_a).unsqueeze(2)
        + torch.einsum("bjn,na->bja", h, U_a).unsqueeze(1)
    )
    e = torch.einsum("bija,a->bij", hidden, v_a)
    if mask is not None:
        e = e.masked_fill(~mask.allowed(s.shape[1], h.shape[1])[:, 0], -torch.inf)
    alpha = torch.softmax(e, dim=-1)
    return alpha, torch.einsum("bij,bjn->bin", alpha, h)


def check(trace: av.Trace, x: av.Inputs, context: av.Inputs, mask, dtype: str) -> None:
    weights, output = of_the_paper(x.embeddings, context.embeddings, trace.parameters, mask)
    assert largest_difference(trace.weights[:, 0].double(), weights) < 2 * TOLERANCE[dtype]
    assert largest_difference(trace.output.double(), output) < 4 * TOLERANCE[dtype]


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("mask", CROSS_MASKS.values(), ids=CROSS_MASKS.keys())
def test_a_decoder_looks_at_annotations(mask: masks.Mask | None, dtype: str) -> None:
    x, context = asking(dtype), answering(dtype)
    trace = av.run("additive", x, context=context, mask=mask, head_dim=10)
    assert trace.output.shape == x.embeddings.shape
    check(trace, x, context, mask, dtype)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("mask", SELF_MASKS.values(), ids=SELF_MASKS.keys())
def test_a_sequence_looks_at_itself(mask: masks.Mask | None, dtype: str) -> None:
    x = asking(dtype)
    check(av.run("additive", x, mask=mask, seed=3), x, x, mask, dtype)


def test_rows_in_blocks_are_rows_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = av.run("additive", asking("float64"))
    monkeypatch.setattr(additive, "AT_ONCE", 1)
    assert largest_difference(whole.output, av.run("additive", asking("float64")).output) < 1e-14


def test_values_are_the_tokens_and_scores_stay_unscaled() -> None:
    trace = av.run("additive", asking("float64"))
    assert "value" not in trace.names
    assert trace.options["scale"] == 1
    bound = trace.parameters["v_a"].abs().sum()
    assert float(trace["scores"].tensor.abs().max()) < float(bound)  # each tanh is below 1


def test_what_it_has_not() -> None:
    with pytest.raises(av.AttnvizError, match="Rotary positions act on dot products"):
        av.run("additive", av.random_inputs(4, 8, positions="rotary"))
    with pytest.raises(av.AttnvizError, match="kernel must be 'reference'; received 'sdpa'"):
        av.run("additive", asking(), kernel="sdpa")

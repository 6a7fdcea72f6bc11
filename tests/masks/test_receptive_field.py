"""Reach through layers against really stacked layers, and a search over paths."""

from __future__ import annotations

import pytest
import torch

import attnviz as av
from attnviz import masks
from attnviz.errors import AttnvizError

LENGTH = 14


@pytest.mark.parametrize("n_layers", [1, 2, 3, 50])
def test_causal_window_reaches_the_papers_count(n_layers):
    window = 4
    field = masks.receptive_field(masks.causal() & masks.sliding_window(window), LENGTH, n_layers)[
        0, 0
    ]
    assert int(field[-1].sum()) == min(n_layers * (window - 1) + 1, LENGTH)


@pytest.mark.parametrize("mask", [
    masks.causal() & masks.dilated_window(2, 3), masks.longformer(2, [5]),
    masks.big_bird(2, 1), ~masks.sliding_window(3), masks.documents([6, 8]),
], ids=str)  # fmt: skip
@pytest.mark.parametrize("n_layers", [1, 2, 4])
def test_it_is_where_the_gradient_of_stacked_layers_is(mask, n_layers):
    """Each layer is attention and a residual connection."""
    x = av.random_inputs(LENGTH, 8, seed=1).embeddings.double().requires_grad_()
    hidden = x
    for layer in range(n_layers):
        trace = av.run("multi_head", av.Inputs(hidden), n_heads=2, mask=mask, seed=layer)
        hidden = hidden + trace.output
    reached = torch.stack([
        torch.autograd.grad(hidden[0, row].sum(), x, retain_graph=True)[0][0].abs().amax(-1) > 0
        for row in range(LENGTH)
    ])  # fmt: skip
    assert masks.receptive_field(mask, LENGTH, n_layers)[0, 0].equal(reached)


def test_a_dilated_stack_reaches_further_with_as_many_keys():
    near, far = (
        masks.receptive_field(masks.causal() & masks.dilated_window(2, step), LENGTH, 2)[0, 0]
        for step in (1, 4)
    )
    assert near[-1].nonzero()[0].item() == 11
    assert far[-1].nonzero()[0].item() == 5


def test_documents_never_meet():
    field = masks.receptive_field(masks.documents([6, 8]), LENGTH, 9)[0, 0]
    assert not bool(field[:6, 6:].any())


def test_no_layers_are_refused():
    with pytest.raises(AttnvizError, match="layers is 1 or more; received 0"):
        masks.receptive_field(masks.causal(), LENGTH, 0)

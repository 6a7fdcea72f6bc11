"""A trace: named steps, and words for what is not there."""

from __future__ import annotations

import pytest
import torch

import attnviz as av
from attnviz.trace import Step


def trace() -> av.Trace:
    return av.run("multi_head", av.random_inputs(4, 8), n_heads=2)


def test_steps_are_found_by_name() -> None:
    found = trace()
    assert found["weights"].shape == (1, 2, 4, 4)
    assert found.output is found["output"].tensor
    assert found.tensor("W_o") is found.parameters["W_o"]
    assert found.tensor("query") is found["query"].tensor
    with pytest.raises(av.AttnvizError, match=r"multi_head has no step 'logits'; it has inputs, "):
        _ = found["logits"]


def test_weights_always_have_a_head_axis() -> None:
    one = av.run("scaled_dot_product", av.random_inputs(4, 8))
    assert one["weights"].shape == (1, 4, 4)
    assert one.weights.shape == (1, 1, 4, 4)
    assert one.weights_kind == "softmax"


def test_self_or_cross() -> None:
    x = av.random_inputs(4, 8)
    assert not av.run("multi_head", x).is_cross
    cross = av.run("multi_head", x, context=av.Inputs(torch.ones(1, 2, 8), ["a", "b"]))
    assert cross.is_cross
    assert cross.query_tokens == ("x0", "x1", "x2", "x3")
    assert cross.key_tokens == ("a", "b")


def test_axes_must_name_every_dimension() -> None:
    with pytest.raises(av.AttnvizError, match=r"names 1 axes \('query',\) for .* shape \(2, 3\)"):
        Step("scores", torch.zeros(2, 3), ("query",))


def test_formulas_name_earlier_steps_only() -> None:
    """Origins lead from the output back to what was given."""
    found = trace()
    for place, step in enumerate(found.steps):
        for source in step.origin.sources:
            assert source in found.names[:place] or source in found.parameters

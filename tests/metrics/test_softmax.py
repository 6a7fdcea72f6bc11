"""Saturation and its gradient, against autograd and closed forms."""

from __future__ import annotations

import math

import pytest
import torch

import attnviz as av
from attnviz import masks
from attnviz.metrics.softmax import LADDER, curves, entropy, gradient_norm, spread, spread_of


@pytest.mark.parametrize("scale", [0.1, 1.0, 5.0])
def test_gradient_norm_is_autograds(scale: float) -> None:
    torch.manual_seed(0)
    scores = scale * torch.randn(5, 7, dtype=torch.float64)
    for row, norm in zip(scores, gradient_norm(torch.softmax(scores, -1)), strict=True):
        jacobian = torch.autograd.functional.jacobian(lambda s: torch.softmax(s, -1), row)
        assert float(norm) == pytest.approx(float(torch.linalg.matrix_norm(jacobian)), rel=1e-9)


def test_gradient_norm_of_even_and_saturated_rows() -> None:
    even = torch.full((4,), 0.25, dtype=torch.float64)
    # diag(1/n) - 1/n^2: n (1/n - 1/n^2)^2 + n (n - 1) / n^4 = (n - 1) / n^2.
    assert float(gradient_norm(even)) == pytest.approx(math.sqrt(3) / 4)
    assert float(gradient_norm(torch.tensor([0.0, 1.0, 0.0]))) == 0


def test_entropy_in_nats() -> None:
    assert float(entropy(torch.full((8,), 0.125))) == pytest.approx(math.log(8))
    assert float(entropy(torch.tensor([0.0, 1.0]))) == 0


def test_scores_have_variance_d_k_unless_divided() -> None:
    frame = curves(seed=0)
    for d_k in LADDER:
        at = frame[frame["d_k"] == d_k].set_index("scaled")["variance"]
        assert at[False] == pytest.approx(d_k, rel=0.35)
        assert at[True] == pytest.approx(at[False] / d_k)


def test_without_scaling_softmax_saturates_and_its_gradient_vanishes() -> None:
    frame = curves(seed=1)
    plain, scaled = frame[~frame["scaled"]], frame[frame["scaled"]]
    assert plain["largest"].is_monotonic_increasing
    assert plain["largest"].iloc[-1] > 0.9
    assert plain["entropy"].iloc[-1] < 0.2
    late = plain["gradient"].iloc[-1]
    assert late < plain["gradient"].iloc[3] / 3
    assert scaled["largest"].max() < 0.3
    assert scaled["gradient"].iloc[-1] > 2 * late
    assert scaled["entropy"].iloc[-1] > 2.5


def test_a_run_is_measured_by_what_entered_softmax() -> None:
    x = av.random_inputs(12, 16, seed=2)
    trace = av.run("scaled_dot_product", x, scale=False)
    numbers = spread_of(trace)
    assert numbers["variance"] == pytest.approx(float(trace["scores"].tensor.var(correction=0)))
    assert numbers["largest"] == pytest.approx(float(trace.weights.amax(-1).mean()))
    calm = spread_of(av.run("scaled_dot_product", x))
    assert calm["variance"] == pytest.approx(numbers["variance"] / 16, rel=1e-5)
    assert calm["largest"] < numbers["largest"]
    by_head = av.run("multi_head", x, n_heads=2)
    assert spread_of(by_head, head=1) != spread_of(by_head, head=0)


def test_hidden_keys_and_empty_rows_do_not_count() -> None:
    x = av.random_inputs(6, 8)
    mask = masks.causal() & ~masks.prefix(1)
    numbers = spread_of(av.run("scaled_dot_product", x, mask=mask, empty_rows="zero"))
    assert all(math.isfinite(number) for number in numbers.values())
    kept = av.run("scaled_dot_product", x, mask=mask, empty_rows="zero")
    rows = kept.weights[0, 0, 1:]
    assert numbers["largest"] == pytest.approx(float(rows.amax(-1).mean()))
    assert spread(torch.zeros(1, 1), torch.ones(1, 1))["variance"] == 0


def test_with_every_key_hidden_there_is_nothing_to_measure() -> None:
    x = av.random_inputs(3, 8)
    trace = av.run("scaled_dot_product", x, mask=masks.padding([0]), empty_rows="zero")
    with pytest.raises(av.AttnvizError, match="Every key is hidden"):
        spread_of(trace)

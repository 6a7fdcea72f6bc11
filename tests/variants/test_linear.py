"""Linear attention against the quadratic form and a recurrence written out by hand."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F

import attnviz as av
from attnviz.variants.linear import FEATURE_MAPS, quadratic
from tests.variants.cases import TOLERANCE, largest_difference
from tests.variants.recurrent_cases import HEADS, inputs

PHI = {
    "elu": lambda x: F.elu(x) + 1,
    "relu": lambda x: F.relu(x) + 1e-3,
    "exp": torch.exp,
    "softmax": lambda x: torch.softmax(x, -1),
}


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("name", FEATURE_MAPS)
def test_both_associations_agree_with_equation_9(name: str, dtype: str) -> None:
    trace = av.run("linear", inputs(dtype), n_heads=HEADS, feature_map=name)
    query, key = PHI[name](trace["query_heads"].tensor), PHI[name](trace["key_heads"].tensor)
    value = trace["value_heads"].tensor
    for i in (0, 1, 69):  # sums up to i in numerator and normaliser alike
        fit = torch.einsum("bhc,bhjc->bhj", query[:, :, i], key[:, :, : i + 1])
        row = torch.einsum("bhj,bhjv->bhv", fit, value[:, :, : i + 1]) / fit.sum(-1, keepdim=True)
        assert largest_difference(trace["heads"].tensor[:, :, i], row) < 4 * TOLERANCE[dtype]
    whole = quadratic(query, key, value)
    assert largest_difference(trace["heads"].tensor, whole) < 4 * TOLERANCE[dtype]


def test_the_map_is_a_distribution() -> None:
    trace = av.run("linear", inputs(), n_heads=HEADS)
    assert bool((trace.weights >= 0).all())
    assert largest_difference(trace.weights.sum(-1), torch.ones(2, HEADS, 70).double()) < 1e-12


def test_a_scale_cancels() -> None:
    x = inputs()
    assert largest_difference(av.run("linear", x).output, av.run("linear", x, scale=7).output) < (
        1e-12
    )


def test_very_negative_components_keep_a_positive_feature() -> None:
    x = av.Inputs(-40 * torch.ones(1, 3, 8))
    assert bool(av.run("linear", x, n_heads=2).output.isfinite().all())

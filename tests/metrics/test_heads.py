"""The six numbers of a head, against closed forms and plain loops."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from attnviz.metrics.heads import NAMES, head_metrics, row_metrics


def by_name(numbers: torch.Tensor) -> dict[str, float]:
    return dict(zip(NAMES, numbers.tolist(), strict=True))


def test_an_even_causal_map_has_the_closed_forms() -> None:
    length = 7
    weights = torch.ones(1, length, length).tril()
    weights /= weights.sum(-1, keepdim=True)
    got = by_name(head_metrics(weights)[0])
    rows = range(1, length + 1)
    assert got["entropy"] == pytest.approx(sum(math.log(n) for n in rows) / length, abs=1e-6)
    assert got["distance"] == pytest.approx(sum((n - 1) / 2 for n in rows) / length, abs=1e-6)
    assert got["span"] == pytest.approx((length + 1) / 2, abs=1e-5)
    harmonic = sum(1 / n for n in rows)
    assert got["first"] == pytest.approx(harmonic / length, abs=1e-6)
    assert got["self"] == pytest.approx(harmonic / length, abs=1e-6)
    assert got["previous"] == pytest.approx((harmonic - 1) / (length - 1), abs=1e-6)


def test_one_key_a_row_has_no_entropy() -> None:
    got = by_name(head_metrics(torch.eye(5)[None])[0])
    assert got == {
        "entropy": 0,
        "distance": 0,
        "first": pytest.approx(0.2),
        "previous": 0,
        "self": 1,
        "span": 1,
    }


def test_a_previous_token_head() -> None:
    weights = torch.zeros(4, 4)
    weights[0, 0] = 1
    weights[torch.arange(1, 4), torch.arange(3)] = 1
    got = by_name(head_metrics(weights[None])[0])
    assert got["previous"] == 1
    assert got["distance"] == pytest.approx(0.75)
    assert got["self"] == pytest.approx(0.25)


def test_both_directions_count_as_distance() -> None:
    weights = torch.tensor([[[0.0, 0.0, 1.0], [0.5, 0.0, 0.5], [1.0, 0.0, 0.0]]])
    assert by_name(head_metrics(weights)[0])["distance"] == pytest.approx((2 + 1 + 2) / 3)


def test_a_single_token_has_no_previous() -> None:
    got = by_name(head_metrics(torch.ones(2, 1, 1))[1])
    assert math.isnan(got["previous"])
    assert (got["entropy"], got["distance"], got["first"], got["self"]) == (0, 0, 1, 1)


def test_blocks_of_a_map_give_the_rows_of_the_whole() -> None:
    torch.manual_seed(0)
    weights = torch.randn(3, 12, 12).softmax(-1)
    weights[:, 8:, :4] = 0  # a window: keys before 4 have no weight for these rows
    whole = row_metrics(weights)
    block = row_metrics(weights[:, 8:, 4:], first_row=8, first_key=4)
    torch.testing.assert_close(block, whole[:, 8:])
    loop = np.zeros((12, 2))
    for i in range(12):
        for j in range(12):
            p = float(weights[0, i, j])
            loop[i] += (-p * math.log(p) if p else 0.0, p * abs(i - j))
    np.testing.assert_allclose(whole[0, :, :2].numpy(), loop, atol=1e-5)

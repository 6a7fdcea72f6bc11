"""Similarity of maps against closed forms."""

from __future__ import annotations

import math

import pytest
import torch

from attnviz.metrics.similarity import between_heads, cosine, jensen_shannon, total_variation


def rows(*values: list[float]) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64)


@pytest.mark.parametrize("measure", [jensen_shannon, cosine, total_variation])
def test_equal_maps_are_as_alike_as_can_be(measure):
    maps = torch.rand(5, 7, generator=torch.manual_seed(0)).softmax(-1)
    same = 1.0 if measure is cosine else 0.0
    assert measure(maps, maps).item() == pytest.approx(same, abs=1e-6)


@pytest.mark.parametrize(("measure", "apart"), [(jensen_shannon, 1), (cosine, 0)])
def test_maps_that_share_no_key(measure, apart):
    left, right = rows([0.5, 0.5, 0, 0]), rows([0, 0, 0.25, 0.75])
    assert measure(left, right).item() == pytest.approx(apart, abs=1e-12)
    assert total_variation(left, right).item() == pytest.approx(1, abs=1e-12)


def test_jensen_shannon_is_the_mean_of_two_relative_entropies():
    p, q = [0.7, 0.2, 0.1], [0.1, 0.3, 0.6]
    m = [(a + b) / 2 for a, b in zip(p, q, strict=True)]
    kl = lambda a: sum(x * math.log2(x / y) for x, y in zip(a, m, strict=True))  # noqa: E731
    expected = (kl(p) + kl(q)) / 2
    assert jensen_shannon(rows(p), rows(q)).item() == pytest.approx(expected, abs=1e-12)


def test_jensen_shannon_of_a_sure_row_and_an_even_one():
    # H(3/4, 1/4) - (0 + 1) / 2 bits
    expected = -(0.75 * math.log2(0.75) + 0.25 * math.log2(0.25)) - 0.5
    got = jensen_shannon(rows([1, 0]), rows([0.5, 0.5]))
    assert got.item() == pytest.approx(expected, abs=1e-12)


def test_cosine_of_an_angle_of_sixty_degrees():
    left, right = rows([1, 0]), rows([0.5, math.sqrt(3) / 2])
    assert cosine(left, right).item() == pytest.approx(0.5, abs=1e-12)
    assert cosine(left, -left).item() == pytest.approx(-1, abs=1e-12)


def test_total_variation_counts_the_share_that_moved():
    assert total_variation(rows([0.5, 0.5, 0]), rows([0.25, 0.5, 0.25])).item() == 0.25


def test_the_mean_runs_over_queries():
    left = rows([1, 0], [1, 0])
    right = rows([1, 0], [0, 1])
    assert jensen_shannon(left, right).item() == pytest.approx(0.5)
    assert cosine(left, right).item() == pytest.approx(0.5)


@pytest.mark.parametrize("measure", [jensen_shannon, cosine, total_variation])
@pytest.mark.parametrize("hole", [0.0, math.nan])
def test_rows_without_weight_are_left_out(measure, hole):
    left = rows([0.9, 0.1], [hole, hole])
    right = rows([0.2, 0.8], [hole, hole])
    expected = measure(left[:1], right[:1]).item()
    assert measure(left, right).item() == pytest.approx(expected)


def test_between_heads_is_every_pair():
    maps = torch.randn(4, 5, 6, generator=torch.manual_seed(1), dtype=torch.float64).softmax(-1)
    matrix = between_heads(maps)
    for i in range(4):
        for j in range(4):
            assert matrix[i, j].item() == pytest.approx(jensen_shannon(maps[i], maps[j]).item())
    assert torch.allclose(matrix, matrix.T, atol=1e-12)

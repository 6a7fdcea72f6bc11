"""Rollout and flow against chains multiplied out here and networkx's maximum flow."""

from __future__ import annotations

import networkx
import numpy as np
import pytest

import attnviz as av
from attnviz.errors import AttnvizError
from attnviz.metrics.rollout import chains, flow, rollout
from tests.models.made_up import made_up
from tests.models.shrink import shrink
from tests.models.tiny import TEXT, build


def maps(n_layers: int, size: int, seed: int = 0, causal: bool = True) -> np.ndarray:
    scores = np.random.default_rng(seed).normal(0, 2, (n_layers, size, size))
    if causal:
        scores[:, ~np.tri(size, dtype=bool)] = -np.inf
    weights = np.exp(scores)
    return weights / weights.sum(-1, keepdims=True)


@pytest.mark.parametrize("causal", [True, False])
def test_rows_sum_to_one_on_asymmetric_maps(causal: bool) -> None:
    found = rollout(maps(5, 40, causal=causal))
    np.testing.assert_allclose(found.sum(-1), 1, atol=1e-6)
    assert not np.allclose(found[-1], found[-1].T)


def test_every_path_is_counted() -> None:
    """Two layers, three tokens: the sum over paths, written out."""
    weights = maps(2, 3)
    steps = 0.5 * weights + 0.5 * np.eye(3)
    for i in range(3):
        for j in range(3):
            paths = sum(steps[1, i, k] * steps[0, k, j] for k in range(3))
            assert rollout(weights)[1, i, j] == pytest.approx(paths, abs=1e-12)


def test_rows_that_a_sink_took_from_are_filled_up() -> None:
    np.testing.assert_allclose(rollout(maps(3, 6) * 0.3).sum(-1), 1, atol=1e-12)


@pytest.mark.parametrize("query", [2, 4])
def test_flow_is_networkx_maximum_flow(query: int) -> None:
    weights = maps(3, 5, seed=1)
    graph = networkx.DiGraph()
    for layer in range(3):
        step = (weights[layer] + np.eye(5)) / 2
        for i in range(5):
            for j in range(5):
                if step[i, j] > 0:
                    graph.add_edge((layer + 1, i), (layer, j), capacity=step[i, j])
    found = flow(weights, query)
    for key in range(5):
        expected = 0.0
        if (0, key) in graph and key <= query:
            expected = networkx.maximum_flow_value(graph, (3, query), (0, key))
        assert found[key] == pytest.approx(expected, abs=2e-5)


def test_what_cannot_be_chained_is_said() -> None:
    with pytest.raises(AttnvizError, match="square maps"):
        rollout(np.zeros((2, 3, 4)))
    with pytest.raises(AttnvizError, match="negative numbers"):
        rollout(-maps(2, 3))
    with pytest.raises(AttnvizError, match="tokens 0 to 2"):
        flow(maps(2, 3), 3)


def test_a_capture_is_chained_by_its_mean_heads() -> None:
    capture = made_up(20, n_layers=4)
    found = chains(capture)
    means = np.stack(
        [np.mean([capture.weights(layer, head) for head in range(3)], axis=0) for layer in range(4)]
    )
    wanted = (means + np.eye(20)) / 2
    np.testing.assert_allclose(found.rollout[2], wanted[2] @ wanted[1] @ wanted[0], atol=1e-6)
    assert found.flow is not None
    np.testing.assert_allclose(found.flow[7], flow(means, 7), atol=1e-5)
    assert chains(made_up(65, n_layers=1, n_heads=1)).flow is None


def test_captures_that_cannot_be_chained_say_why() -> None:
    with pytest.raises(AttnvizError, match="at most 512 tokens, not 513"):
        chains(made_up(513, n_layers=1, n_heads=1))
    hybrid = av.capture(build(shrink("qwen3_next")), TEXT)
    with pytest.raises(AttnvizError, match="1 layers with mixers that have no softmax"):
        chains(hybrid)


def test_what_cannot_be_chained_is_refused() -> None:
    """Cross maps, layers with a second mixer of another kind, and maps that hold NaN."""
    pair = av.capture(av.load_model("date-translator"), source="may 1st, 1998")
    with pytest.raises(AttnvizError, match="tokens of two texts"):
        chains(pair, "cross")
    parallel = av.capture(build(shrink("falcon_h1")), TEXT)
    assert {layer.index for layer in parallel.captured} == {
        layer.index for layer in parallel.layers
    }
    with pytest.raises(AttnvizError, match="mixers that have no softmax"):
        chains(parallel)
    with pytest.raises(AttnvizError, match="NaN"):
        rollout(np.full((1, 2, 2), np.nan))

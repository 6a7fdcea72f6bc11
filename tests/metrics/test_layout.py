"""Distances between all heads, their order and their plane."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon, pdist, squareform

import attnviz as av
from attnviz.errors import AttnvizError
from attnviz.metrics.layout import clustering_order, head_distances, likeness, plane
from tests.models.made_up import made_up
from tests.models.shrink import shrink
from tests.models.tiny import TEXT, build


def test_distances_are_scipys() -> None:
    capture = made_up(24)
    places, found = head_distances(capture)
    maps = [capture.weights(layer, head) for layer, head in places]
    for a, one in enumerate(maps):
        for b, other in enumerate(maps):
            rows = jensenshannon(one, other, base=2, axis=1) ** 2
            assert found[a, b] == pytest.approx(np.sqrt(rows.mean()), abs=1e-4)
    assert (found.diagonal() == 0).all()


def test_one_head_is_a_point() -> None:
    places, kept = plane(np.zeros((1, 1)))
    assert places.tolist() == [[0.0, 0.0]]
    assert kept == 1


def test_alike_heads_stand_together() -> None:
    generator = np.random.default_rng(0)
    groups = generator.permutation(np.repeat([0.0, 10.0, 20.0], 5))
    points = groups[:, None] + generator.normal(0, 0.1, (15, 1))
    order = clustering_order(squareform(pdist(points)))
    assert sorted(order) == list(range(15))
    assert (np.diff(groups[order]) != 0).sum() == 2


def test_the_plane_keeps_distances_that_lie_in_one() -> None:
    points = np.random.default_rng(0).normal(size=(12, 2))
    distances = squareform(pdist(points))
    places, kept = plane(distances)
    np.testing.assert_allclose(squareform(pdist(places)), distances, atol=1e-9)
    assert kept == pytest.approx(1)
    _, some = plane(squareform(pdist(np.random.default_rng(0).normal(size=(30, 10)))))
    assert 0.2 < some < 0.6


def test_long_texts_are_refused() -> None:
    with pytest.raises(AttnvizError, match="at most 256"):
        head_distances(made_up(300))


def test_likeness_is_made_of_its_parts() -> None:
    capture = made_up(16)
    told: list[float] = []
    found = likeness(capture, progress=lambda fraction, _: told.append(fraction))
    places, distances = head_distances(capture)
    assert found.places == tuple(places)
    np.testing.assert_array_equal(found.distances, distances)
    np.testing.assert_array_equal(found.order, clustering_order(distances))
    assert told == sorted(told)
    assert told[0] == 0
    assert 0.8 < told[-1] < 1


def test_a_sink_is_one_more_key() -> None:
    """Two heads that both leave most to their sinks are alike, whatever the rest of a row is."""
    model = build(shrink("gpt_oss"))
    capture = av.capture(model, TEXT)
    places, found = head_distances(capture)
    maps = []
    for place in places:
        rows, sink = capture.weights(*place), capture.sink_weights(*place)
        maps.append(np.column_stack([rows, sink]))
        assert sink.max() > 0.05
    for a, b in ((0, 1), (2, -1)):
        rows = jensenshannon(maps[a], maps[b], base=2, axis=1) ** 2
        assert found[a, b] == pytest.approx(np.sqrt(rows.mean()), abs=1e-4)

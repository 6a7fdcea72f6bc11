"""Figures of all heads hold the distances that were computed, and Altair finds charts valid."""

from __future__ import annotations

import altair as alt
import numpy as np
import pytest

from attnviz.figures import structure as figures
from attnviz.figures.capture_axes import cols_of, rows_of
from attnviz.metrics.layout import Likeness, likeness
from attnviz.metrics.rollout import chains
from attnviz.models.captures import Capture
from tests.models.made_up import made_up


@pytest.fixture(scope="module")
def capture() -> Capture:
    return made_up(14, n_layers=3)


@pytest.fixture(scope="module")
def found(capture: Capture) -> Likeness:
    return likeness(capture)


def test_each_cell_is_the_distance_of_the_heads_that_its_labels_name(found: Likeness) -> None:
    (panel,) = figures.distances_figure(found, "made-up").panels
    for row, col in ((0, 5), (8, 2)):
        heads = [tuple(map(int, panel.rows.labels[at].split("."))) for at in (row, col)]
        one, other = (found.places.index(head) for head in heads)
        assert panel.values[row, col] == pytest.approx(found.distances[one, other])
        words = figures.pair_sentence(found, row, col)
        (a, b), (c, d) = heads
        assert words.startswith(f"layer {a}, head {b} and layer {c}, head {d}, at distance ")
    least = found.distances[~np.eye(9, dtype=bool)].min()
    assert figures.pair_sentence(found, None, None).endswith(f"at distance {least:.3f}.")
    assert figures.pair_sentence(found, 99, 0).startswith("Most alike")


@pytest.mark.parametrize("colour", ["layer", "entropy"])
@pytest.mark.parametrize("dark", [False, True])
def test_the_plane_has_every_head_with_its_own_numbers(
    capture: Capture, found: Likeness, colour: str, dark: bool
) -> None:
    spec = figures.plane_chart(found, capture.metrics(), colour, (1, 2), dark=dark)
    rows = spec["datasets"]["heads"]
    alt.Chart.from_dict(spec | {"datasets": {"heads": rows}})
    assert [(row["layer"], row["head"]) for row in rows if row["chosen"]] == [(1, 2)]
    frame = capture.metrics().set_index(["layer", "head"])
    for row in rows:
        where = (row["layer"], row["head"])
        wanted = row["layer"] if colour == "layer" else frame.loc[where, "entropy"]
        assert row["value"] == pytest.approx(wanted)
        assert (row["x"], row["y"]) == tuple(found.points[found.places.index(where)])


def test_layers_are_named_by_whole_numbers(capture: Capture, found: Likeness) -> None:
    spec = figures.plane_chart(found, capture.metrics(), "layer", (1, 2))
    assert spec["encoding"]["color"]["legend"]["values"] == [0, 1, 2]
    assert figures._legend("layer", {4}) is None  # one colour tells nothing apart
    many = figures._legend("layer", set(range(30)))
    assert many is not None
    assert many["values"] == list(range(0, 30, 3))


def test_chains_are_drawn_as_they_are(capture: Capture) -> None:
    found = chains(capture)
    axes = rows_of(capture, "from"), cols_of(capture, "to")
    rollout, flow = figures.chains_figure(found, 1, axes, "made-up").panels
    np.testing.assert_allclose(rollout.values, found.rollout[1], atol=1e-7)
    assert rollout.blocked is not None
    assert rollout.blocked.sum() == 14 * 13 / 2
    assert (flow.values[rollout.blocked] == 0).all()
    assert figures.causal(found)
    assert not figures.causal(chains(made_up(5, causal=False)))
    words = figures.rows_sentence(found, 2, capture.tokens)
    assert "After layer 2, the last token has" in words
    assert "its row sums to 1.000000" in words

"""Pictures of a decoding: valid charts with the measured numbers in them."""

import altair as alt
import numpy as np
import pytest

from attnviz.decoding import Eviction, Generation, Passes, Policy, Shared, Stale, Step
from attnviz.figures import decoding as figures

STEPS = tuple(Step(n, "x", 0.01 * n, 0.03, True, 0.0, 100 * n, 100 * n) for n in (1, 2))
MADE = Generation(("a", "b"), (0, 1, 1, 2), STEPS, 1, "abxx", np.zeros((2, 1, 3, 3), np.float32))


def test_every_step_is_a_point_both_ways():
    rows = figures.times(MADE)["datasets"]["rows"]
    assert [row["ms"] for row in rows] == pytest.approx([10, 30, 20, 30])
    assert [row["KiB"] for row in figures.sizes(MADE)["datasets"]["rows"]] == [
        100 / 1024,
        200 / 1024,
    ]


@pytest.mark.parametrize("dark", [False, True])
def test_altair_finds_them_valid(dark: bool):
    held = np.ones((1, 1, 2, 2), bool)
    gone = Eviction(("a", "b"), Policy(2), (0.0, 0.1), (True, True), (1, 2), (1, 2), held)
    shared = Shared(("a", "b"), (2, 1), (2, 1), ((1.0,), (2.0,)))
    passes = Passes(("a",), (1e-6,), True, 0.1, (0.1,))
    for chart in (
        figures.times(MADE, dark=dark),
        figures.sizes(MADE, dark=dark),
        figures.passes_chart(passes, dark=dark),
        figures.kl_chart(gone, dark=dark),
        figures.loss_chart(shared, dark=dark),
    ):
        alt.Chart.from_dict(chart).to_dict()


def test_maps_keep_their_numbers():
    errors = np.array([[0.0, 0.5]], np.float32)
    found = Stale(("a", "b"), "c", 1, True, errors, 0.1)
    assert (figures.stale_figure(found).panels[0].values == errors).all()
    assert found.first_wrong == 1
    assert figures.map_figure(MADE, 1, 0).panels[0].grows_from == 2

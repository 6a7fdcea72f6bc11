"""The curves and bars say what they show, and draw the numbers that were computed."""

from __future__ import annotations

import altair as alt
import pytest

from attnviz.figures.saturation import CURVES, Curve, saturation_chart, shares_chart
from attnviz.metrics.softmax import COLUMNS, LADDER, curves


@pytest.mark.parametrize("curve", CURVES, ids=lambda curve: curve.column)
def test_a_curve(curve: Curve) -> None:
    spec = saturation_chart(curves(), curve, d_k=8)
    alt.LayerChart.from_dict(spec).to_dict()  # raises where it is not valid
    assert spec["title"] == curve.title
    rule, label, lines = spec["layer"]
    assert lines["encoding"]["y"]["title"] == curve.unit
    assert lines["encoding"]["x"]["title"].startswith("d_k")
    rows = spec["datasets"][lines["data"]["name"]]
    assert len(rows) == 2 * len(LADDER)
    assert {row["series"] for row in rows} == {"divided by √d_k", "not divided"}
    assert spec["datasets"][rule["data"]["name"]][0]["d_k"] == 8
    assert spec["datasets"][label["data"]["name"]][0]["label"] == "d_k = 8"


def test_every_number_has_a_curve() -> None:
    assert {curve.column for curve in CURVES} == set(COLUMNS)


def test_shares() -> None:
    spec = shares_chart(["cat", "fish"], [4.0, 0.0], [0.9, 0.1], [0.75, 0.25])
    alt.LayerChart.from_dict(spec).to_dict()  # raises where it is not valid
    rows = spec["datasets"][spec["data"]["name"]]
    assert [(row["entry"], row["weight"]) for row in rows] == [
        ("cat → 4", 0.75),
        ("fish → 0", 0.25),
    ]
    assert "share of the answer" in spec["layer"][0]["encoding"]["x"]["title"]


@pytest.mark.parametrize("dark", [False, True])
def test_what_a_control_moves_is_data(dark: bool) -> None:
    """The browser builds a chart anew when anything but its data changes: too slow for a slider."""
    for curve in CURVES:
        one, other = (
            saturation_chart(curves(), curve, d_k, dark=dark) | {"datasets": None}
            for d_k in (8, 64)
        )
        assert one == other

"""The cost charts hold the measurements and their exponents, and stay valid Vega-Lite."""

from __future__ import annotations

import altair as alt
import pandas as pd
import pytest

from attnviz.cost.measure import fits
from attnviz.figures.cost import COLUMNS, cost_chart

ROWS = pd.DataFrame(
    [
        {
            "form": form,
            "title": form.upper(),
            "length": length,
            "n_heads": 1,
            "seconds": length**power * 1e-9,
            "cpu_seconds": length**power * 2e-9,
            "repeats": 3,
            "bytes": length * 2**20,
            "device": "cpu",
        }
        for form, power in (("a", 2), ("b", 1))
        for length in (1024, 2048, 4096)
    ]
)


@pytest.mark.parametrize("what", COLUMNS)
@pytest.mark.parametrize("dark", [False, True])
def test_charts_are_valid_and_tell_the_exponents(what: str, dark: bool) -> None:
    spec = cost_chart(ROWS, fits(ROWS), what, dark=dark)
    alt.Chart.from_dict(spec)
    labels = {row["label"] for row in spec["datasets"]["points"]}
    wanted = {"A: T^2.00", "B: T^1.00"} if what == "time" else {"A: T^1.00", "B: T^1.00"}
    assert labels == wanted


def test_units_are_milliseconds_and_mebibytes() -> None:
    point = cost_chart(ROWS, fits(ROWS), "time")["datasets"]["points"][0]
    assert point["milliseconds"] == pytest.approx(1024**2 * 1e-6)
    assert point["mebibytes"] == 1024

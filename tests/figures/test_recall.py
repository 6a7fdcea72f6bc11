"""The recall charts hold the measured means, their spread, and stay valid Vega-Lite."""

from __future__ import annotations

import altair as alt
import pandas as pd
import pytest

from attnviz.figures.recall import TITLES, reading, recall_chart, summary
from attnviz.recall.measure import RecallJob


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return RecallJob(d=16, seeds=3).run(lambda *_: None)


def test_points_are_means_over_seeds(table: pd.DataFrame) -> None:
    summed = summary(table)
    point = summed.iloc[3]
    rows = table[
        (table["task"] == point["task"])
        & (table["mechanism"] == point["mechanism"])
        & (table["keys"] == point["keys"])
    ]
    assert point["seeds"] == len(rows) == 3
    assert point["mean"] == pytest.approx(rows["error"].mean())
    assert point["min"] == rows["error"].min()
    assert point["std"] == pytest.approx(rows["error"].std())


@pytest.mark.parametrize("task", TITLES)
@pytest.mark.parametrize("dark", [False, True])
def test_charts_are_valid(table: pd.DataFrame, task: str, dark: bool) -> None:
    spec = recall_chart(summary(table), task, dark=dark)
    alt.Chart.from_dict(spec)
    assert {row["task"] for row in spec["datasets"]["points"]} == {task}


def test_one_seed_has_no_spread() -> None:
    summed = summary(RecallJob(d=8, seeds=1).run(lambda *_: None))
    assert (summed["std"] == 0).all()


def test_the_sentence_tells_the_numbers(table: pd.DataFrame) -> None:
    said = reading(summary(table))
    errors = table[(table["task"] == "overwritten") & (table["keys"] == 2)]
    mean = errors[errors["mechanism"] == "delta_rule"]["error"].mean()
    assert f"DeltaNet {mean:.2f}." in said
    assert "2 keys, each written 4 times" in said

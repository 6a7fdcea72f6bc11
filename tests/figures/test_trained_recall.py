"""The chart of the trained stacks holds every run and its mean, and says when luck decided."""

from __future__ import annotations

import altair as alt
import pandas as pd
import pytest

from attnviz.figures.trained_recall import chart, reading, summary

RUNS = pd.DataFrame(
    [
        {"stack": word, "layers": letters, "full": full, "seed": seed, "accuracy": right,
         "fixed_bytes": 80, "bytes": kept}
        for word, letters, full, kept, rights in (
            ("all linear", "LL", 0, 160, (0.2, 0.25)),
            ("1:1", "LF", 1, 900, (0.3, 0.99)),
        )
        for seed, right in enumerate(rights)
    ]
)  # fmt: skip


@pytest.mark.parametrize("dark", [False, True])
def test_the_chart_is_valid_and_holds_every_run_and_the_means(dark: bool) -> None:
    spec = chart(RUNS, summary(RUNS), 1 / 16, dark=dark)
    alt.Chart.from_dict(spec)
    assert [row["accuracy"] for row in spec["datasets"]["runs"]] == [0.2, 0.25, 0.3, 0.99]
    assert [row["mean"] for row in spec["datasets"]["stacks"]] == pytest.approx([0.225, 0.645])
    assert spec["datasets"]["chance"] == [{"mean": 1 / 16}]


def test_the_sentence_tells_means_bytes_and_luck() -> None:
    said = reading(summary(RUNS))
    assert "all linear **0.225** in 160 bytes; 1:1 **0.645** in 900 bytes" in said
    assert "Of 1:1 some runs found it" in said
    assert "luck" not in reading(summary(RUNS[RUNS["stack"] == "all linear"]))

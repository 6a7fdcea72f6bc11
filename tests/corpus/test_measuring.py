"""Means and errors over texts, against numpy over texts that were captured one by one."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pandas as pd
import pytest

import attnviz as av
from attnviz.corpus.jobs import MetricsJob, RemovalsJob, to_parquet
from attnviz.corpus.measuring import change_over, metrics_over, removals_over
from attnviz.corpus.tally import Tally
from attnviz.errors import AttnvizError, Cancelled
from attnviz.figures import corpus as figures
from attnviz.interventions import Knockout, intervene, sweep
from attnviz.metrics.patterns import pattern_scores
from attnviz.models import LoadedModel
from attnviz.models.choice import ModelChoice

TEXTS = ("abc abc", "the cat sat on the mat", "q z q z q", "abcd")  # the last repeats nothing


@pytest.fixture(scope="module")
def induction() -> LoadedModel:
    return av.load_model("induction-2l")


@pytest.fixture(scope="module")
def table(induction: LoadedModel) -> pd.DataFrame:
    return metrics_over(induction, TEXTS)


def test_a_tally_is_numpys_mean_and_deviation_with_gaps() -> None:
    values = np.random.default_rng(0).normal(1e6, 1.0, (7, 2, 3))
    values[2, 0] = values[:6, 1, 1] = np.nan
    tally = Tally((2, 3))
    for each in values:
        tally.add(each)
    n = (~np.isnan(values)).sum(0)
    np.testing.assert_array_equal(tally.n, n)
    np.testing.assert_allclose(tally.mean, np.nanmean(values, 0), rtol=1e-12)
    wanted = np.full((2, 3), np.nan)
    for at in zip(*np.nonzero(n > 1), strict=True):
        wanted[at] = np.nanstd(values[(slice(None), *at)], ddof=1)
    np.testing.assert_allclose(tally.sd, wanted, rtol=1e-6)
    np.testing.assert_allclose(tally.se, wanted / np.sqrt(n), rtol=1e-6)


@pytest.mark.parametrize("metric", ["entropy", "distance", "previous", "induction", "duplicate"])
def test_means_and_errors_are_those_of_the_texts(
    induction: LoadedModel, table: pd.DataFrame, metric: str
) -> None:
    runs = [av.capture(induction, text) for text in TEXTS]
    source = pattern_scores if metric in ("induction", "duplicate") else lambda run: run.metrics()
    each = np.stack([source(run)[metric].to_numpy(float) for run in runs])  # (texts, heads)
    own = table[table["metric"] == metric].sort_values(["layer", "head"])
    assert own["n"].tolist() == (~np.isnan(each)).sum(0).tolist()
    if metric == "induction":
        assert own["n"].iloc[0] == 3
    there = each[~np.isnan(each).all(1)]
    np.testing.assert_allclose(own["mean"], there.mean(0), atol=1e-6)
    np.testing.assert_allclose(own["sd"], there.std(0, ddof=1), atol=1e-6)
    np.testing.assert_allclose(own["se"], there.std(0, ddof=1) / np.sqrt(len(there)), atol=1e-6)


def test_removals_are_those_of_a_sweep_of_each_text(induction: LoadedModel) -> None:
    found = removals_over(induction, TEXTS[:3])
    each = [
        sweep(induction, text).table().set_index(["layer", "head"])["loss_change"]
        for text in TEXTS[:3]
    ]
    own = found[found["metric"] == "loss_change"].set_index(["layer", "head"])
    for place in ((0, 1), (1, 0)):
        values = np.array([one[place] for one in each])
        assert own["mean"][place] == pytest.approx(values.mean(), abs=1e-6)
        assert own["se"][place] == pytest.approx(values.std(ddof=1) / np.sqrt(3), abs=1e-6)


def test_heads_removed_together_change_each_texts_loss(induction: LoadedModel) -> None:
    edits = [Knockout(0, 1), Knockout(1, 0)]
    found = change_over(induction, TEXTS[:2], edits)
    before, after = intervene(induction, TEXTS[1], edits).loss()
    assert found["change"][1] == pytest.approx(after - before, abs=1e-6)
    mean, error = found["change"].mean(), found["change"].std(ddof=1) / np.sqrt(2)
    assert f"{mean:+.4f} ± {error:.4f}" in figures.change_sentence(found)
    with pytest.raises(AttnvizError, match=r"^Layer 1 has heads 0 to 3; head 9"):
        change_over(induction, TEXTS[:1], [Knockout(1, 9)])


def test_a_text_of_one_token_is_left_out_and_counted(induction: LoadedModel) -> None:
    found = change_over(induction, ["a", *TEXTS[:2]], [Knockout(1, 0)])
    assert found["change"].isna().tolist() == [True, False, False]
    said, alone = figures.change_sentence(found), figures.change_sentence(found.dropna())
    assert said == f"{alone} Left out: 1 text of one token, without a loss."
    assert "±" not in figures.change_sentence(found[:2])
    assert "1 texts" not in figures.change_sentence(found[:2])


def test_an_encoder_moves_as_far_as_its_states_do(minilm: LoadedModel) -> None:
    found = change_over(minilm, TEXTS[:2], [Knockout(0, 1)])
    wanted = [intervene(minilm, text, [Knockout(0, 1)]).moved().mean() for text in TEXTS[:2]]
    np.testing.assert_allclose(found["moved"], wanted, atol=1e-6)
    assert f"move by {np.mean(wanted):.4f} ± " in figures.change_sentence(found)


def test_removals_are_ordered_by_their_size() -> None:
    means = [0.1, -0.4, float("nan"), 0.2]
    rows = {"layer": 0, "head": range(4), "sd": 0.1, "se": 0.1, "n": 3}
    for metric, order in (("loss_change", [1, 3, 0, 2]), ("entropy", [3, 0, 1, 2])):
        table = pd.DataFrame({**rows, "metric": metric, "mean": means})
        assert figures.of_metric(table, metric)["head"].tolist() == order
    told = figures.sentence(table.assign(metric="loss_change"), "loss_change", 3)
    assert told.startswith("Changes most without: layer 0, head 1, -0.4000 ± 0.1000, over 3 of 3")


def test_files_read_back_equal(table: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(pd.read_parquet(io.BytesIO(to_parquet(table))), table)
    back = pd.read_csv(io.StringIO(table.to_csv(index=False)))
    pd.testing.assert_frame_equal(back, table)


def test_one_text_has_a_mean_and_no_error(induction: LoadedModel) -> None:
    one = metrics_over(induction, TEXTS[:1])
    assert one["se"].isna().all()
    assert one["mean"].notna().any()
    assert "±" not in figures.sentence(one, "entropy", 1)
    spec = figures.bars_chart(one, "entropy")
    assert spec["datasets"]["bars"][0]["low"] == spec["datasets"]["bars"][0]["mean"]


def test_a_text_that_cannot_be_read_is_named(induction: LoadedModel) -> None:
    with pytest.raises(AttnvizError, match=r"Text 2 could not be measured\. The text makes"):
        metrics_over(induction, ["abc", "a" * 3_999])


def test_a_text_too_long_to_be_swept_is_named() -> None:
    told = (
        r"^The text on line 3 could not be measured\. A sweep .*heads to remove together above\.$"
    )
    with pytest.raises(AttnvizError, match=told):
        RemovalsJob(ModelChoice("minilm-l6"), ((1, "a"), (3, "word " * 300))).run(lambda *_: None)


def test_a_run_stops_between_texts(induction: LoadedModel) -> None:
    heard: list[str] = []

    def stop(fraction: float, text: str, so_far: Any = None) -> None:
        heard.append(text)
        if text.startswith("Text 2"):
            raise Cancelled

    with pytest.raises(Cancelled):
        MetricsJob(ModelChoice("induction-2l"), tuple(enumerate(TEXTS, 1))).run(stop)
    assert not any(words.startswith("Text 3") for words in heard)
    assert metrics_over(induction, TEXTS[:1])["n"].max() == 1  # the model is as it was


def test_what_no_text_has_is_said_and_not_drawn() -> None:
    table = pd.DataFrame(
        {"layer": 0, "head": [0, 1], "metric": "induction", "mean": np.nan, "sd": np.nan}
    ).assign(se=np.nan, n=0)
    assert not figures.measured(table, "induction")
    told = figures.sentence(table, "induction", 1)
    assert told == "The one text has not this number: no token comes again with another between."
    assert figures.measured(table.assign(n=[0, 1], mean=0.5), "induction")

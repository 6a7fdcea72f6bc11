"""Recall: the acceptance figures, and the mechanisms against sums written by hand."""

from __future__ import annotations

import pickle
from itertools import pairwise

import pytest
import torch

from attnviz.errors import AttnvizError
from attnviz.recall.measure import RecallJob
from attnviz.recall.mechanisms import mechanisms

BOUNDED = ("linear", "linear_normalised", "delta_rule", "gated_delta_rule", "kimi_delta")


@pytest.fixture(scope="module")
def table():
    return RecallJob(d=64, seeds=5).run(lambda fraction, text: None)


def means(table, task: str, word: str) -> list[float]:
    rows = table[(table["task"] == task) & (table["mechanism"] == word)]
    return rows.groupby("keys")["error"].mean().tolist()


def test_sharp_softmax_keeps_every_distinct_key(table) -> None:
    rows = table[(table["task"] == "distinct") & (table["mechanism"] == "softmax")]
    assert rows["keys"].max() == 4 * 64
    assert rows["error"].max() < 1e-3


@pytest.mark.parametrize("word", BOUNDED)
def test_every_bounded_states_error_grows_with_the_number_of_keys(table, word: str) -> None:
    errors = means(table, "distinct", word)
    assert len(errors) == 6
    assert all(earlier < later for earlier, later in pairwise(errors))


def test_the_delta_rule_forgets_what_is_overwritten_and_sums_do_not(table) -> None:
    rows = table[(table["task"] == "overwritten") & (table["keys"] == 8)]
    assert set(rows["writes"]) == {4}
    errors = rows.groupby("mechanism")["error"].mean()
    assert errors["linear"] > 1.5
    assert errors["delta_rule"] < 0.5
    assert abs(errors["linear"] - (3 + 28 / 64) ** 0.5) < 0.1  # its own old values, and crosstalk


def test_seeds_differ_and_are_repeatable(table) -> None:
    assert table.groupby(["task", "mechanism", "keys"])["error"].nunique().min() > 1
    again = RecallJob(d=16, seeds=1).run(lambda *_: None)
    assert again.equals(RecallJob(d=16, seeds=1).run(lambda *_: None))


def test_answers_are_those_of_the_sums_written_out() -> None:
    torch.manual_seed(0)
    k = torch.nn.functional.normalize(torch.randn(70, 8, dtype=torch.float64), dim=-1)
    v, q = torch.randn(70, 8, dtype=torch.float64), torch.randn(5, 8, dtype=torch.float64)
    known = {one.word: one.answer(k, v, q) for one in mechanisms(8, 3.0, 0.9)}
    assert torch.allclose(known["softmax"], torch.softmax(3 * q @ k.T, -1) @ v)
    assert torch.allclose(known["linear"], q @ (k.T @ v))
    phi = lambda x: torch.nn.functional.elu(x) + 1  # noqa: E731
    weights = phi(q) @ phi(k).T
    assert torch.allclose(known["linear_normalised"], weights / weights.sum(-1, keepdim=True) @ v)
    channel = 0.9 ** torch.linspace(1, 0, 8, dtype=torch.float64)
    for word, alpha in (("delta_rule", 1.0), ("gated_delta_rule", 0.9), ("kimi_delta", channel)):
        S = torch.zeros(8, 8, dtype=torch.float64)
        for key, value in zip(k, v, strict=True):
            S = S * torch.as_tensor(alpha).reshape(-1, 1)
            S = S + torch.outer(key, value - S.T @ key)
        assert torch.allclose(known[word], q @ S, atol=1e-10), word


def test_the_job_travels_and_can_be_stopped() -> None:
    job = RecallJob(d=16)
    assert pickle.loads(pickle.dumps(job)) == job  # noqa: S301 - our own bytes
    asked: list[float] = []

    def stop(fraction: float, text: str) -> None:
        asked.append(fraction)
        if len(asked) > 3:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        job.run(stop)
    assert len(asked) == 4


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"d": 0}, "d must be from 1 to 256; received 0"),
        ({"d": 10_000}, "from 1 to 256; received 10000"),
        ({"decay": 0.0}, "decay must be above 0"),
        ({"logit_scale": -1.0}, "logit_scale must be above 0"),
    ],
)
def test_numbers_out_of_range_are_a_sentence(options: dict, words: str) -> None:
    with pytest.raises(AttnvizError, match=words):
        RecallJob(**options).run(lambda *_: None)

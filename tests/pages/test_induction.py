"""The worked example: each step's numbers, and the ones that the story hangs on."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch
from streamlit.testing.v1 import AppTest

import attnviz as av
from attnviz.models.teaching.induction import without_head
from attnviz.ui.page import CAUTIONS

PAGE = Path(__file__).parents[2] / "pages" / "induction.py"
HALF = 20


def open_page(**query: str) -> AppTest:
    app = AppTest.from_file(str(PAGE), default_timeout=60)
    for word, value in query.items():
        app.query_params[word] = value
    app.run()
    assert not app.exception
    return app


def told_by(app: AppTest) -> str:
    return "\n".join(element.value for element in [*app.markdown, *app.text])


@pytest.mark.parametrize("seed", ["0", "7"])
def test_knocking_out_either_head_costs_a_nat_and_the_median_one_nothing(seed: str) -> None:
    """The page's numbers are those of the trainer's own hook, on the text that the page shows."""
    first, second = open_page(seed=seed).code[0].value.split("\n")
    assert first == second
    told = told_by(open_page(step="removal", seed=seed))
    finder, teller, median = re.search(
        r"Without layer 1, head (?:\d) it rises by ([\d.]+) nats, without layer 0, head (?:\d) by "
        r"([\d.]+); without the median head by ([-\d.]+)\.",
        told,
    ).groups()  # type: ignore[union-attr]
    assert float(finder) >= 1
    assert float(teller) >= 1
    assert abs(float(median)) < 0.1
    assert CAUTIONS["removed"] in told
    model = av.load_model("induction-2l")
    ids = torch.tensor([model.tokenizer(first + second)["input_ids"]])
    assert ids[0, :HALF].tolist() == ids[0, HALF:].tolist()

    def loss() -> float:
        with torch.no_grad():
            logits = model.model(input_ids=ids).logits[0, HALF:-1]
        return float(torch.nn.functional.cross_entropy(logits, ids[0, HALF + 1 :]))

    whole = loss()
    for layer, shown in ((1, finder), (0, teller)):
        with without_head(model.model, layer, 0):
            assert loss() - whole == pytest.approx(float(shown), abs=0.006)


def test_scores_single_out_the_heads_and_one_builds_on_the_other() -> None:
    told = told_by(open_page(step="finder"))
    best, second = map(float, re.findall(r"has (0\.\d+)", told))
    assert best > 0.9 > 0.2 > second
    assert CAUTIONS["head_role"] in told
    told = told_by(open_page(step="teller"))
    _, before, after = map(float, re.findall(r"(?:has|from|to) (0\.\d+)", told))
    assert before > 0.9
    assert after < 0.3


def test_the_text_is_known_the_second_time() -> None:
    told = told_by(open_page())
    first, blind, second = map(
        float,
        re.search(r"costs ([\d.]+) nats.*cost ([\d.]+);.*time ([\d.]+)\.", told).groups(),  # type: ignore[union-attr]
    )
    assert first > blind > 4
    assert second < 0.1

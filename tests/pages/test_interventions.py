"""The Interventions page: sweeps, removes, ranks, and says what is wrong in a sentence."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from attnviz.ui.page import CAUTIONS

PAGE = Path(__file__).parents[2] / "pages" / "interventions.py"
TEXT = "Mr and Mrs Dursley left. Mr and Mrs Durs"

pytestmark = pytest.mark.models


def open_page(**query: str) -> AppTest:
    app = AppTest.from_file(str(PAGE), default_timeout=300)
    for word, value in ({"text": TEXT} | query).items():
        app.query_params[word] = value
    app.run()
    assert not app.exception
    return app


def texts(app: AppTest) -> str:
    return "\n".join(element.value for element in [*app.markdown, *app.text])


def test_the_sweep_finds_heads_that_lower_the_repeated_name() -> None:
    app = open_page()
    told = texts(app)
    assert "Next token 'ley'" in told
    assert "the lowest of 270 removals" in told
    assert CAUTIONS["removed"] in told
    assert len(app.get("arrow_vega_lite_chart") or app.get("vega_lite_chart")) == 3


@pytest.mark.parametrize("tab", ["cell", "patterns", "attribution", "numbers", "lesson", "code"])
def test_every_part_opens(tab: str) -> None:
    app = open_page(tab=tab)
    if tab == "patterns":
        probe = app.dataframe[0].value
        best = probe.iloc[0]
        assert best["induction"] > 0.8  # SmolLM2 has induction heads
        assert CAUTIONS["head_role"] in texts(app)
    if tab == "cell":
        weights = app.dataframe[0].value["weight"]
        assert len(weights) == 270
        assert weights.is_monotonic_decreasing
    if tab == "code":
        assert "parse_heads" in app.code[0].value


def test_heads_and_tokens_are_removed_and_told() -> None:
    app = open_page(heads="17.3, 18.6", hide="2", by="mean")
    told = texts(app)
    assert "layer 17, head 3 replaced by its mean; layer 18, head 6 replaced by its mean" in told
    assert "token 2 hidden from the others" in told
    assert "KL divergence" in told


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"heads": "<b>3</b>"}, "written layer.head"),
        ({"heads": "99.0"}, "no attention layer 99"),
        ({"heads": "1.99"}, "heads 0 to 8"),
        ({"hide": "one"}, "hidden by position"),
        ({"hide": "9999"}, "is not there"),
        ({"text": ""}, "type at least one word|is empty"),
        ({"text": "the cat " * 300}, "at most 256 tokens"),
        ({"word": "ley"}, None),
    ],
)
def test_bad_input_is_a_sentence_and_is_kept(query: dict[str, str], words: str | None) -> None:
    import re

    app = open_page(**query)
    told = texts(app)
    if words is not None:
        assert re.search(words, told), told
    for word, value in query.items():
        kept = [*app.text_input, *app.text_area]
        assert any(element.value == value for element in kept), word

"""The page on many texts: means, removals, files, and what is wrong in a sentence."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from attnviz.ui.page import CAUTIONS

PAGE = Path(__file__).parents[2] / "pages" / "many_texts.py"


def open_page(**query: str) -> AppTest:
    app = AppTest.from_file(str(PAGE), default_timeout=120)
    for word, value in ({"model": "induction-2l", "texts": "abc abc\nxy xy xy"} | query).items():
        app.query_params[word] = value
    app.run()
    assert not app.exception
    return app


def told(app: AppTest) -> str:
    return "\n".join(element.value for element in [*app.markdown, *app.text])


def test_it_says_the_largest_mean_and_over_how_many_texts() -> None:
    app = open_page()
    assert "over 2 of 2 texts" in told(app)
    assert "Largest: layer 1, head" in told(app)  # the induction head
    assert CAUTIONS["texts_unit"] in told(app)
    assert "nothing repeats" in told(open_page(texts="abc"))


@pytest.mark.parametrize("tab", ["numbers", "lesson", "code"])
def test_every_part_opens(tab: str) -> None:
    app = open_page(tab=tab, metric="entropy")
    if tab == "numbers":
        table = app.dataframe[0].value
        assert len(table) == 8
        assert table["mean"].is_monotonic_decreasing
    if tab == "code":
        assert "metrics_over" in app.code[0].value


def test_heads_are_removed_together_or_in_turn() -> None:
    assert "the mean over 2 texts" in told(open_page(heads="1.0, 0.1"))
    app = open_page(sweep="true")
    assert told(app).count("Largest: layer") == 2
    assert CAUTIONS["removed"] in told(app)


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"texts": ""}, "no text here"),
        ({"texts": "a" * 1_400}, "Text 1 could not be measured"),
        ({"heads": "<b>"}, "written layer.head"),
        ({"heads": "9.9"}, "no attention layer 9"),
        ({"metric": "nonsense"}, "Largest"),
    ],
)
def test_bad_input_is_a_sentence(query: dict[str, str], words: str) -> None:
    assert words in told(open_page(**query))

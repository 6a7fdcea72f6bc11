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
    assert "no token comes again" in told(open_page(texts="abc"))
    assert "over 1 of 1 text. One text gives no standard error" in told(open_page(texts="abc abc"))
    short = told(open_page(texts="a\nb", metric="previous"))
    assert "None of these 2 texts has this number: a text of one token" in short
    assert "no token comes again" not in short


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
    assert "Changes most without: layer" in told(app)
    assert CAUTIONS["removed"] in told(app)


def test_an_encoders_states_move_where_it_has_no_loss() -> None:
    assert "Output states move by" in told(open_page(model="minilm-l6", heads="0.1"))


def test_a_file_is_measured_until_it_is_put_aside() -> None:
    app = open_page()
    app.session_state["file"] = True  # the button's own state: open
    app.run()
    good = ("own.txt", b"ab ab ab\nq w q w\nxyz xyz xyz", "text/plain")
    app.file_uploader[0].set_value(good).run()
    assert "Measured: the file own.txt, 3 texts" in told(app)
    assert "over 3 of 3 texts" in told(app)
    app.file_uploader[0].set_value(("bad.jsonl", b"[", "text/plain")).run()
    assert "Line 1 is not JSON" in told(app)
    assert "over 3 of 3 texts" in told(app)
    for is_open in (False, True):  # opened again it holds nothing, and changes nothing
        app.session_state["file"] = is_open
        app.run()
        assert "over 3 of 3 texts" in told(app)
    app.button(key="use_typed").click().run()
    assert "over 2 of 2 texts" in told(app)
    assert "Measured" not in told(app)


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"texts": ""}, "no text here"),
        ({"texts": "a" * 1_400}, "The text on line 1 could not be measured"),
        ({"texts": "abc\n\n" + "a" * 400}, "The text on line 3 could not be measured"),
        ({"heads": "<b>"}, "written layer.head"),
        ({"heads": "9.9"}, "no attention layer 9"),
        ({"texts": "abc abc\nb", "heads": "1.0"}, "Left out: 1 text of one token"),
        ({"texts": "b", "heads": "1.0"}, "No loss on 1 text"),
        ({"metric": "nonsense"}, "Largest"),
    ],
)
def test_bad_input_is_a_sentence(query: dict[str, str], words: str) -> None:
    said = told(open_page(**query))
    assert words in said
    if query.get("heads") == "9.9":
        assert "line 1" not in said

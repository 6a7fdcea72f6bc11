"""Folded controls: not made while closed, and nothing that was chosen there is lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

PAGES = Path(__file__).parents[2] / "pages"

pytestmark = pytest.mark.models  # the tokenizer is SmolLM2's


def folded(app: AppTest, is_open: bool) -> AppTest:
    app.session_state["more"] = is_open
    app.run()
    assert not app.exception
    return app


def test_what_was_chosen_outlives_the_closing() -> None:
    app = folded(AppTest.from_file(str(PAGES / "masks.py"), default_timeout=60), True)
    app.number_input(key="window").set_value(5).run()
    app.text_area(key="text").set_value("one two three").run()
    folded(app, False)
    assert not app.number_input
    assert not app.text_area
    for _ in range(2):  # it is still there when further runs have passed
        app.toggle(key="not").set_value(not app.toggle(key="not").value).run()
        assert app.query_params["window"] == "5"
        assert app.query_params["text"] == "one two three"
    folded(app, True)
    assert app.number_input(key="window").value == 5
    assert app.text_area(key="text").value == "one two three"


@pytest.mark.parametrize("word", ["masks", "heads", "step_by_step", "kv_cache"])
def test_a_link_counts_whether_open_or_closed(word: str) -> None:
    said: list[list[str]] = []
    for is_open in (True, False):
        app = AppTest.from_file(str(PAGES / f"{word}.py"), default_timeout=60)
        for key, value in {"seed": "7", "text": "a b c", "d": "16", "batch": "3"}.items():
            app.query_params[key] = value
        folded(app, is_open)
        said.append([element.value for element in [*app.markdown, *app.text]])
    assert said[0] == said[1]

"""The Cost page: measures what is asked, refuses what would not fit, gives numbers out."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from attnviz.settings import settings
from attnviz.ui.page import CAUTIONS

PAGE = Path(__file__).parents[2] / "pages" / "cost.py"
QUICK = {"forms": "multi_head/sdpa,linear/chunked", "longest": "2048"}


def open_page(**query: str) -> AppTest:
    app = AppTest.from_file(str(PAGE), default_timeout=180)
    for word, value in query.items():
        app.query_params[word] = value
    app.session_state["more"] = True  # what is folded is open
    app.run()
    assert not app.exception
    return app


def texts(app: AppTest) -> str:
    return "\n".join(element.value for element in [*app.markdown, *app.text])


@pytest.mark.parametrize("tab", ["lesson", "numbers", "published", "code"])
def test_every_part_opens_on_what_was_measured(tab: str) -> None:
    app = open_page(**QUICK, tab=tab)
    assert "Measured on cpu" in texts(app)
    assert CAUTIONS["measured_here"] in texts(app)
    if tab == "numbers":
        exponents, table = (element.value for element in app.dataframe)
        assert len(exponents) == 2
        assert sorted(set(table["length"])) == [256, 512, 1024, 2048]
    if tab == "code":
        assert "linear/chunked" in app.code[0].value


def test_what_would_not_fit_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATTNVIZ_MEMORY_GIB", "0.2")
    settings.cache_clear()
    try:
        app = open_page(forms="multi_head/naive", longest="16384")
        assert any("needs about" in text.value for text in app.text)
    finally:
        settings.cache_clear()


def test_no_form_is_a_sentence() -> None:
    app = open_page(**QUICK)
    app.multiselect(key="forms").set_value([]).run()
    assert not app.exception
    assert any("No form is chosen" in text.value for text in app.text)


def test_hostile_values_in_a_link_fall_back() -> None:
    app = open_page(forms="linear/chunked,<b>,x", longest="2048", cost_heads="1000")
    assert app.multiselect(key="forms").value == ["linear/chunked"]
    assert "Measured on cpu" in texts(app)

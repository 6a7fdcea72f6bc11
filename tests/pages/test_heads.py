"""The heads page: sharing, its cautions, and sliders that always fit each other."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from attnviz.ui.page import CAUTIONS

PAGE = Path(__file__).parents[2] / "pages" / "heads.py"

pytestmark = pytest.mark.models  # the tokenizer is SmolLM2's


def open_page(**query: str) -> AppTest:
    app = AppTest.from_file(str(PAGE), default_timeout=60)
    for word, value in query.items():
        app.query_params[word] = value
    app.session_state["more"] = True  # what is folded is open
    app.run()
    assert not app.exception
    return app


def texts(app: AppTest) -> str:
    return "\n".join(element.value for element in [*app.markdown, *app.text])


def test_opens_with_two_key_value_heads_and_its_cautions():
    app = open_page(tab="costs")
    assert [title.value for title in app.title] == [
        "Does every head need keys and values of its own?"
    ]
    assert "Query head 0 reads key/value head 0, as do query heads 1, 2, 3" in texts(app)
    for word in ("random_weights", "head_role", "equal_cache", "no_ranking"):
        assert CAUTIONS[word] in texts(app)


def test_costs_stand_in_the_formula_with_this_runs_numbers():
    # d = 64, H = 8, G = 2, d_k = d_v = 8, float32
    assert "= 10,240" in texts(open_page(tab="costs"))
    assert "= 128" in texts(open_page(tab="costs"))


def test_the_slider_offers_the_divisors():
    app = open_page(heads="16")
    assert app.select_slider(key="kv").options == ["1", "2", "4", "8", "16"]


def test_fewer_query_heads_than_key_value_heads_cannot_be_asked_for():
    app = open_page(heads="16", kv="16")
    assert "Query head 0 reads key/value head 0, and no other head does" in texts(app)
    app.segmented_control(key="heads").set_value(4).run()
    assert not app.exception
    assert app.select_slider(key="kv").value in (1, 2, 4)


@pytest.mark.parametrize("query", [{"kv": "3"}, {"kv": "99"}, {"heads": "7"}, {"head": "99"}])
def test_hostile_values_in_a_link_fall_back(query):
    assert "Query head 0 reads key/value head 0, as do query heads 1, 2, 3" in texts(
        open_page(**query)
    )


def test_a_link_points_at_a_head():
    assert "Query head 5 reads key/value head 1" in texts(open_page(layer="0", head="5"))


@pytest.mark.parametrize("tab", ["costs", "alike", "code"])
def test_every_tab_opens(tab):
    app = open_page(tab=tab, kv="4")
    if tab == "code":
        assert "n_kv_heads=4" in app.code[0].value


def test_an_empty_text_is_a_sentence():
    app = open_page()
    app.text_area(key="text").set_value("").run()
    assert not app.exception
    assert any("text is empty" in text.value for text in app.text)

"""The masks page: what is chosen, what is shown, what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from attnviz.masks.choice import FAMILIES
from attnviz.ui.mask_controls import MASKS
from attnviz.ui.page import CAUTIONS

PAGE = Path(__file__).parents[2] / "pages" / "masks.py"

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


def test_opens_with_one_question_a_causal_mask_and_its_cautions():
    app = open_page()
    assert [title.value for title in app.title] == ["Which words may a word look at?"]
    assert app.pills(key="mask").value == ["causal"]
    assert "36 of 81 pairs are hidden" in texts(app)
    assert CAUTIONS["random_weights"] in texts(app)
    assert CAUTIONS["not_explanation"] in texts(app)


def test_offers_every_family_there_is():
    assert list(MASKS) == list(FAMILIES)
    assert list(open_page().pills(key="mask").options) == list(MASKS.values())


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ({"mask": "causal,window", "window": "2"}, "64 of 81 pairs are hidden"),
        ({"mask": "causal,prefix", "join": "or", "prefix": "3"}, "33 of 81 pairs"),
        ({"mask": "causal", "not": "true"}, "45 of 81 pairs are hidden"),
        ({"mask": "padding", "padding": "4"}, "36 of 81 pairs are hidden"),
        ({"mask": "bidirectional"}, "0 of 81 pairs are hidden"),
        ({"mask": "dilated", "window": "2", "dilation": "3"}, "60 of 81 pairs are hidden"),
        ({"mask": "window,global", "join": "or", "window": "2"}, "42 of 81 pairs are hidden"),
        ({"mask": "block", "block": "3"}, "54 of 81 pairs are hidden"),
        ({"mask": "big_bird", "block": "1", "random": "2"}, "16 of 81 pairs are hidden"),
        ({"mask": "causal,documents", "document": "5"}, "56 of 81 pairs are hidden"),
        ({"mask": "none"}, "0 of 81 pairs are hidden"),
        ({"input": "random", "length": "4"}, "6 of 16 pairs are hidden"),
    ],
)
def test_a_link_chooses_the_mask(query, sentence):
    assert sentence in texts(open_page(**query))


def test_hostile_values_in_a_link_fall_back():
    app = open_page(mask="../../x", window="1000000000", seed="-7", join="<script>")
    assert app.pills(key="mask").value == ["causal"]
    assert app.number_input(key="window").value == 3
    assert "36 of 81 pairs are hidden" in texts(app)


def test_a_query_without_a_key_is_drawn_and_explained():
    app = open_page(mask="padding", padding="0", tab="empty", **{"not": "true"})
    assert "9 queries see no key: their weights and output are drawn as zeros" in texts(app)
    (table,) = app.dataframe
    assert len(table.value) == 8
    assert any(text.value.startswith("Query 0 ('The') has no key") for text in app.text)


def test_more_padding_than_tokens_hides_all():
    assert "81 of 81 pairs are hidden" in texts(open_page(mask="padding", padding="63"))


@pytest.mark.parametrize("tab", ["seen", "conventions", "formula", "code"])
def test_every_tab_opens(tab):
    app = open_page(tab=tab)
    if tab == "Code":
        assert "mask = causal()" in app.code[0].value
    if tab == "Other conventions":
        assert "differs between them" in texts(app)


def test_an_empty_text_is_a_sentence_and_the_controls_stay():
    app = open_page()
    app.text_area(key="text").set_value("").run()
    assert not app.exception
    assert any("text is empty" in text.value for text in app.text)
    app.text_area(key="text").set_value("one two").run()
    assert "1 of 4 pairs are hidden" in texts(app)


def test_one_token_is_enough():
    app = open_page()
    app.text_area(key="text").set_value("a").run()
    assert "0 of 1 pairs are hidden" in texts(app)


def test_a_long_text_is_refused_and_kept():
    app = open_page()
    long = "word " * 20_000
    app.text_area(key="text").set_value(long).run()
    assert not app.exception
    assert any("shorten it" in text.value for text in app.text)
    assert app.text_area(key="text").value == long

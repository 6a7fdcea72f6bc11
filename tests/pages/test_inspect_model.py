"""Inspect a model: real maps of what was typed, and a sentence for whatever cannot be done."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from attnviz.ui.page import CAUTIONS

pytestmark = pytest.mark.models

ROOT = Path(__file__).parents[2]


def open_page(**query: str) -> AppTest:
    app = AppTest.from_file(str(ROOT / "attnviz" / "ui" / "shell.py"), default_timeout=180)
    app.run()
    app.query_params.update(query)
    app.switch_page(str(ROOT / "pages" / "inspect_model.py")).run()
    assert not app.exception
    return app


def _refusal(app: AppTest) -> str:
    assert not app.exception
    assert not app.get("bidi_component"), "a picture was drawn"
    (sentence,) = [text.value for text in app.text]
    return sentence


def test_the_first_visit_shows_maps_predictions_table_checks_and_cautions() -> None:
    app = open_page()
    assert len(app.get("bidi_component")) == 2  # the picture and its wire
    (predictions,) = (frame.value for frame in app.dataframe)
    assert list(predictions.columns) == ["token", "token_id", "probability"]
    assert predictions["probability"].is_monotonic_decreasing
    words = " ".join(block.value for block in app.markdown)
    assert CAUTIONS["not_explanation"] in words
    assert CAUTIONS["head_role"] in words
    texts = " ".join(text.value for text in app.text)
    assert "plain sdpa run" in texts  # the run's check of itself
    assert "4-bit" in texts


def test_every_head_is_in_the_table() -> None:
    (heads,) = (frame.value for frame in open_page(tab="heads").dataframe)
    assert list(heads.columns[:2]) == ["layer", "head"]
    assert len(heads) == 30 * 9


def test_an_encoder_predicts_nothing_and_says_so() -> None:
    app = open_page(model="minilm-l6", text="the cat the dog the cat")
    assert any("predicts no next token" in block.value for block in app.markdown)
    data = app.get("bidi_component")[0].proto.bytes
    assert data.count(b'"[CLS]"') >= 1


def test_a_link_names_the_head() -> None:
    app = open_page(text="The cat sat.", layer="11", head="3")
    assert app.query_params["layer"] == "11"
    assert b"Layer 11, head 3" in app.get("bidi_component")[0].proto.bytes


@pytest.mark.parametrize(
    "text",
    [
        "x",
        "<script>alert(1)</script>",
        '" onmouseover="a()',
        "$5 and $6 \\(x\\)",
        "🤗東京שלום",
        "a\n\tb  c",
    ],
)
def test_hostile_and_odd_text_is_drawn_and_kept(text: str) -> None:
    app = open_page()
    app.text_area(key="text").set_value(text).run()
    assert not app.exception
    assert len(app.get("bidi_component")) == 2
    assert app.text_area(key="text").value == text
    assert len(text) == 1 or not any(text in block.value for block in app.markdown)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "empty"),
        ("word " * 20_000, "characters"),
        ("word " * 9_000, "tokens"),
    ],
)
def test_text_that_cannot_be_run_is_refused_in_words_and_kept(text: str, says: str) -> None:
    app = open_page()
    app.text_area(key="text").set_value(text).run()
    assert says in _refusal(app)
    assert app.text_area(key="text").value == text


@pytest.mark.parametrize(
    "name",
    [
        "",
        "   ",
        "no-such-model",
        "nobody/nothing-of-this-name",
        "/etc",
        "../../etc/passwd",
        "a b/c?",
    ],
)
def test_a_model_that_cannot_be_had_is_refused_in_words(name: str) -> None:
    app = open_page(model="other", id=name)
    assert _refusal(app).rstrip().endswith(".")


def test_a_folder_inside_the_allowed_ones_without_a_model_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from attnviz.settings import settings

    (tmp_path / "pickled").mkdir()
    (tmp_path / "pickled" / "config.json").write_text('{"model_type": "llama"}')
    (tmp_path / "pickled" / "pytorch_model.bin").write_bytes(b"\x80\x04.")
    monkeypatch.setenv("ATTNVIZ_MODEL_DIRS", str(tmp_path))
    settings.cache_clear()
    try:
        assert "safetensors" in _refusal(open_page(model="other", id=str(tmp_path / "pickled")))
        assert "config.json" in _refusal(open_page(model="other", id=str(tmp_path)))
    finally:
        settings.cache_clear()


def test_a_teaching_model_is_given_what_it_was_made_for_until_one_types() -> None:
    app = open_page()
    app.selectbox(key="model").set_value("date-translator").run()
    assert app.text_area(key="text").value == "tuesday, march 3rd, 1998"
    assert app.get("bidi_component"), "no picture was drawn"
    assert "text" not in app.query_params
    app.selectbox(key="model").set_value("shapes-detr").run()
    assert not app.exception
    assert app.get("bidi_component"), "no picture was drawn"
    assert any("drawn here" in block.value for block in app.markdown)
    app.text_area(key="text").set_value("may 5, 2005")
    app.selectbox(key="model").set_value("date-translator").run()
    assert app.text_area(key="text").value == "may 5, 2005"

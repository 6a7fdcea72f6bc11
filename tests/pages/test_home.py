"""Home paints a real, recorded map at once and says what it is."""

from pathlib import Path

from streamlit.testing.v1 import AppTest

from attnviz.models import catalog
from attnviz.ui.page import CAUTIONS
from attnviz.ui.pages import PAGES

SHELL = str(Path(__file__).parents[2] / "attnviz" / "ui" / "shell.py")


def test_home_shows_the_recording_the_caution_the_models_and_the_pages() -> None:
    app = AppTest.from_file(SHELL, default_timeout=30).run()
    assert not app.exception
    reading, writing = app.get("bidi_component")
    assert b"mat" in reading.proto.bytes
    assert b"mysterious" in writing.proto.bytes
    texts = " ".join(text.value for text in app.text)
    assert texts.count("Recorded, not computed now") == 2
    assert "Device:" in texts
    words = " ".join(block.value for block in app.markdown)
    assert CAUTIONS["not_explanation"] in words
    for model in catalog.bundled():
        assert model.title in words
    assert "4-bit" in words
    assert len(app.get("page_link")) == len(PAGES) - 1  # all but this one

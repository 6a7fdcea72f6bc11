"""The decoding page on the bundled model: agreement said, and each part answers."""

from __future__ import annotations

from pathlib import Path

from streamlit.testing.v1 import AppTest

from attnviz.ui.page import CAUTIONS

ROOT = Path(__file__).parents[2]


def texts(at: AppTest) -> str:
    return "\n".join(element.value for element in [*at.text, *at.markdown])


def test_a_real_model_writes_and_its_cache_is_changed():
    """One visit through every part: the model writes three tokens after four."""
    at = AppTest.from_file(str(ROOT / "attnviz/ui/shell.py"), default_timeout=180)
    at.run()
    at.query_params["text"] = "The cat sat on"
    at.query_params["n"] = "3"
    at.switch_page(str(ROOT / "pages/decoding.py")).run()
    assert not at.exception
    assert at.title[0].value == "Why can a model write on without reading everything again?"
    assert "The same tokens with the cache and without" in texts(at)
    # 4 + 2 tokens were read; 30 layers x 2 x 3 heads x 64 x 4 bytes are 46,080 a token
    assert "276,480 bytes after the last step" in texts(at)
    assert "6 tokens of 46,080 bytes" in texts(at)
    said = {
        "passes": "is the same at every position",
        "reuse": "The first key that is wrong stands at position **3**",
        "evict": "Kept: 270 KiB of 315 KiB",
        "share": "shrinks from **322,560** to **107,520** bytes",
        "lesson": "Each step computes one query",
    }
    at.session_state["budget"] = 6
    for part, words in said.items():
        at.segmented_control(key="tab").set_value(part).run()
        assert not at.exception, part
        assert words in texts(at), part
    assert CAUTIONS["equal_cache"] not in texts(at)
    at.segmented_control(key="tab").set_value("reuse").run()
    at.number_input(key="edit").set_value(200).run()
    assert "there is no token 200 to edit" in texts(at)

"""Device and kernel: one choice for every page that computes, in the address."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "pages"

pytestmark = pytest.mark.models  # the tokenizer is SmolLM2's


def opened(page: str, **query: str) -> AppTest:
    app = AppTest.from_file(str(PAGES / page), default_timeout=60)
    for word, value in query.items():
        app.query_params[word] = value
    app.run()
    assert not app.exception
    return app


def texts(app: AppTest) -> str:
    return "\n".join(element.value for element in [*app.markdown, *app.text])


@pytest.mark.parametrize("page", ["variants.py", "compare.py", "step_by_step.py"])
def test_a_page_says_what_ran_where(page: str) -> None:
    assert "Computed on cpu in float32, every step kept" in texts(opened(page, device="cpu"))
    said = texts(opened(page, kernel="fast"))
    assert "the kernel 'sdpa' gives the same output in float32 to within" in said
    refused = texts(opened(page, kernel="cudnn"))
    assert "The kernel 'cudnn' cannot compute this: PyTorch has no such kernel" in refused
    absent = texts(opened(page, device="cuda:77"))
    assert "This machine has no device 'cuda:77'" in absent
    strange = texts(opened(page, kernel="<b>", device="../x"))
    assert "(kernel: reference)" in strange


def test_costs_are_measured_with_the_choice() -> None:
    app = opened("cost.py", forms="multi_head/sdpa", longest="2048", kernel="math", tab="code")
    assert "kernel='math'" in app.code[0].value
    said = texts(opened("cost.py", forms="multi_head/sdpa", longest="2048", kernel="cudnn"))
    assert "The kernel 'cudnn' cannot compute this" in said


def test_the_choice_is_made_in_the_sidebar_and_what_is_missing_says_why() -> None:
    app = AppTest.from_file(str(ROOT / "attnviz" / "ui" / "shell.py"), default_timeout=60)
    app.session_state["computing"] = True  # opened
    app.run()
    assert not app.exception
    missing = "\n".join(element.value for element in app.sidebar.text)
    assert "fla: flash-linear-attention's Triton kernels need an NVIDIA GPU" in missing
    assert "cudnn: PyTorch has no such kernel" in missing
    app.selectbox(key="kernel").set_value("fast").run()
    assert app.query_params["kernel"] in ("fast", ["fast"])
    assert not app.exception

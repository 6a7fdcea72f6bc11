"""What was typed, read by a real model, in a browser."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pytest
from playwright.sync_api import Browser, Page

from attnviz.models import LoadedModel, capture
from tests.browser.chromium import wait_idle
from tests.browser.explorer_page import Explorer

pytestmark = [pytest.mark.browser, pytest.mark.models]

MAPS = ".explorer[data-generation]"
Visit = Callable[..., Page]


def _type(page: Page, text: str) -> None:
    """Give the page this text and wait until its maps are drawn."""
    area = page.get_by_label("Text", exact=True)
    area.fill(text)
    area.press("Control+Enter")
    page.wait_for_timeout(300)
    page.get_by_role("main").get_by_role("button", name="Stop").wait_for(
        state="detached", timeout=120_000
    )
    wait_idle(page, 120)
    page.locator(MAPS).wait_for(timeout=30_000)


def _labels(explorer: Explorer) -> list[str]:
    return explorer.ask("explorer.figure.panels[0].rows.labels")


def test_a_typed_sentence_shows_the_models_own_weights(visit: Visit, smollm2: LoadedModel) -> None:
    page = visit("/inspect_model?layer=7&head=2", timeout=120)
    _type(page, "the cat the dog the cat")
    explorer = Explorer(page)
    labels = _labels(explorer)
    assert [label.lstrip("·") for label in labels] == ["the", "cat", "the", "dog", "the", "cat"]
    expected = capture(smollm2, "the cat the dog the cat").weights(7, 2)
    drawn = explorer.ask("Array.from(explorer.figure.panels[0].values)")
    np.testing.assert_allclose(np.reshape(drawn, expected.shape), expected, atol=1e-6)
    assert f"{expected[4, 2]:.3g}"[:5] in explorer.hover("weights", 4, 2)


def test_typed_markup_is_shown_and_makes_no_element(visit: Visit) -> None:
    page = visit("/inspect_model", timeout=120)
    text = '<s><b id="planted">x</b></s><script>window.planted=1</script> $5 and $6 :smile: [a](b)'
    _type(page, text)
    assert page.evaluate("() => window.planted") is None
    inside = "(s) => [document, document.querySelector('.explorer')?.getRootNode() ?? document]"
    assert (
        page.evaluate(f"{inside}.flatMap(r => [...r.querySelectorAll(s)]).length", "#planted") == 0
    )
    assert page.get_by_label("Text", exact=True).input_value() == text
    joined = "".join(_labels(Explorer(page))).replace("·", " ")
    assert joined == text
    assert page.locator(".katex").count() == 0


def test_a_link_shows_the_same_head_in_a_fresh_browser(
    visit: Visit, browser: Browser, server_url: str
) -> None:
    page = visit("/inspect_model?text=The+cat+sat+down.&layer=11&head=3", timeout=120)
    page.locator(MAPS).wait_for()
    first = Explorer(page)
    x, y = first.cell("weights", 2, 1)
    page.mouse.click(x, y)
    page.wait_for_url("**row=2**", timeout=10_000)
    assert "layer=11" in page.url
    assert "head=3" in page.url

    context = browser.new_context(viewport={"width": 1440, "height": 900})
    other = context.new_page()
    other.goto(page.url)
    other.locator(MAPS).wait_for(timeout=60_000)
    second = Explorer(other)
    assert second.ask("explorer.selection") == first.ask("explorer.selection")
    assert second.ask("explorer.selection.row") == 2
    context.close()


@pytest.mark.alone
def test_512_tokens_are_on_screen_in_one_and_a_half_seconds_with_few_labels(visit: Visit) -> None:
    page = visit("/inspect_model", timeout=120)
    text = " ".join(f"word{i}" for i in range(170))
    _type(page, text)  # the capture happens here, and is kept
    n_tokens = len(_labels(Explorer(page)))
    assert n_tokens >= 512
    _type(page, "The cat sat.")
    area = page.get_by_label("Text", exact=True)
    area.fill(text)
    start = time.perf_counter()
    area.press("Control+Enter")
    explorer = Explorer(page)
    while len(_labels(explorer)) != n_tokens:
        page.wait_for_timeout(20)
    explorer.settled()
    seconds = time.perf_counter() - start
    print(f"512 tokens on screen {seconds:.2f} s after the capture")
    assert seconds < 1.5, f"{seconds:.1f} s"
    plan = explorer.ask("explorer.views.get('weights').scene.plan")
    assert 10 < len(plan["rowTicks"]) <= 100
    assert 10 < len(plan["colTicks"]) <= 100


def test_a_run_can_be_stopped_and_asked_for_again(visit: Visit) -> None:
    page = visit("/inspect_model?text=Short.", timeout=120)
    area = page.get_by_label("Text", exact=True)
    area.fill("many words " * 900)
    area.press("Control+Enter")
    page.get_by_role("main").get_by_role("button", name="Stop").click(timeout=20_000)
    page.get_by_text("Stopped before it was done.").wait_for(timeout=20_000)
    assert area.input_value() == "many words " * 900
    area.fill("Short.")
    area.press("Control+Enter")
    page.locator(MAPS).wait_for(timeout=60_000)
    assert len(_labels(Explorer(page))) == 2

"""What was typed, read by a real model, in a browser."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

from attnviz.models import LoadedModel, capture
from tests.browser.chromium import until, wait_idle
from tests.browser.explorer_page import Explorer
from tests.browser.tab import new_context

pytestmark = [pytest.mark.browser, pytest.mark.models]

MAPS = ".explorer[data-generation]"
Visit = Callable[..., Page]


def _type(page: Page, text: str) -> None:
    """Give the page this text and wait until its maps are drawn."""
    area = page.get_by_label("Text", exact=True)
    area.fill(text)
    area.press("Control+Enter")
    wait_idle(page)
    stop = page.get_by_role("main").get_by_role("button", name="Stop")
    expect(stop).to_have_count(0, timeout=180_000)
    wait_idle(page)
    page.locator(MAPS).wait_for()


def _labels(explorer: Explorer) -> list[str]:
    return explorer.ask("explorer.figure.panels[0].rows.labels")


def test_a_typed_sentence_shows_the_models_own_weights(visit: Visit, smollm2: LoadedModel) -> None:
    page = visit("/inspect_model?layer=7&head=2", timeout=120)
    _type(page, "the cat the dog the cat")
    explorer = Explorer(page)
    labels = ["the", "cat", "the", "dog", "the", "cat"]
    until(page, lambda: [label.lstrip("·") for label in _labels(explorer)], labels)
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
    expect(page.get_by_label("Text", exact=True)).to_have_value(text)
    explorer = Explorer(page)
    until(page, lambda: "".join(_labels(explorer)).replace("·", " "), text)
    assert page.locator(".katex").count() == 0


def test_a_link_shows_the_same_head_in_a_fresh_browser(
    visit: Visit, browser: Browser, server_url: str
) -> None:
    page = visit("/inspect_model?text=The+cat+sat+down.&layer=11&head=3", timeout=120)
    page.locator(MAPS).wait_for()
    first = Explorer(page)
    first.click("weights", 2, 1)
    page.wait_for_url("**row=2**")
    assert "layer=11" in page.url
    assert "head=3" in page.url

    context = new_context(browser)
    other = context.new_page()
    other.goto(page.url)
    second = Explorer(other)
    second.until("explorer.selection", first.ask("explorer.selection"))
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
    explorer.until("explorer.figure.panels[0].rows.labels.length", n_tokens)
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
    page.get_by_role("main").get_by_role("button", name="Stop").click()
    page.get_by_text("Stopped before it was done.").wait_for()
    expect(area).to_have_value("many words " * 900)
    wait_idle(page)
    area.fill("Short.")
    area.press("Control+Enter")
    page.locator(MAPS).wait_for()
    Explorer(page).until("explorer.figure.panels[0].rows.labels.length", 2)

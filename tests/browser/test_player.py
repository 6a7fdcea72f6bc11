"""The player: steps of a computation and tokens of a generation, played in the browser alone."""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, Locator, Page, WebSocket, expect

from tests.browser.chromium import wait_idle

pytestmark = [pytest.mark.browser, pytest.mark.models]

ROWS = """() => {
  for (const element of document.querySelectorAll('*')) {
    const found = element.shadowRoot?.querySelector('.explorer');
    if (!found?.__explorer.figure.panels[0].growsFrom) continue;
    return found.__explorer.views.get('weights').scene.shown.rows.length;
  }
}"""


def named(page: Page, name: str) -> Locator:
    return page.get_by_role("button", name=name, exact=True)


def test_the_steps_are_played_without_the_server(visit: Callable[..., Page], page: Page) -> None:
    sent: list[object] = []

    def listen(socket: WebSocket) -> None:
        socket.on("framesent", lambda frame: sent.append(frame))

    page.on("websocket", listen)
    visit("/step_by_step?mask=causal")
    titles = page.locator(".explorer .panel .title")
    assert titles.count() > 8
    for name in ("One step back", "Play", "One step forward"):
        box = named(page, name).bounding_box()
        assert box is not None
        assert min(box["width"], box["height"]) >= 24
    named(page, "One step forward").click()
    expect(titles).to_have_text(["Queries Q = X·Wq", "Keys K = X·Wk", "Scores S = Q·Kᵀ"])
    page.wait_for_url(re.compile("at=0"))
    wait_idle(page)

    before = len(sent)
    named(page, "Play").click()
    expect(titles).to_have_text(["Scores S = Q·Kᵀ", "Scaled scores"])
    expect(titles).to_have_text(["Scaled scores", "Masked scores"])
    assert len(sent) == before
    named(page, "Pause").click()
    page.wait_for_url(re.compile("at=2"))
    wait_idle(page)
    # The chosen cell goes along: its arithmetic is that of the step.
    expect(page.get_by_test_id("stBottom")).to_contain_text("may look at key 1")

    scrub = page.get_by_role("slider", name="Step", exact=True)
    before = len(sent)
    scrub.evaluate("node => { node.value = '3'; node.dispatchEvent(new Event('input')); }")
    expect(titles).to_have_text(["Masked scores", "Weights A = softmax"])
    expect(scrub).to_have_attribute("aria-valuetext", "4 of 5: Weights A = softmax")
    assert len(sent) == before, "dragged, it acts by itself"
    scrub.evaluate("node => node.dispatchEvent(new Event('change'))")
    page.wait_for_url(re.compile("at=3"))
    wait_idle(page)

    visit(f"/step_by_step?{urlsplit(page.url).query}")
    expect(titles).to_have_text(["Masked scores", "Weights A = softmax"])
    named(page, "Show all").click()
    page.wait_for_url(lambda url: "at" not in parse_qs(urlsplit(url).query))
    assert titles.count() > 8


def test_a_generation_grows_by_a_row_a_token(
    browser: Browser, server_url: str, visit: Callable[..., Page]
) -> None:
    page = visit("/")
    expect(page.locator(".written").last).to_contain_text("The moon is a mysterious")
    assert page.evaluate(ROWS) == 37
    assert page.get_by_text("Recorded, not computed now").count() == 2
    named(page, "One step forward").click()
    expect(page.locator(".written strong").last).to_have_text("")
    assert page.evaluate(ROWS) == 13
    named(page, "Play").click()
    expect(page.locator(".written strong").last).to_contain_text("is a mysterious")
    named(page, "Pause").click()
    assert page.evaluate(ROWS) >= 16
    assert "query" in page.locator(".explorer .readout").last.inner_text(), (
        "the newest row is marked"
    )

    # The text itself has no more than was written.
    page.get_by_role("button", name="Text", exact=True).last.click()
    there = page.locator(".running [role=option]:visible")
    there.first.wait_for()
    written = page.locator(".written").last.inner_text()
    assert "".join(there.all_inner_texts()) == written.replace(" ", "")

    calm = browser.new_context(reduced_motion="reduce").new_page()
    try:
        calm.goto(server_url)
        wait_idle(calm)
        expect(named(calm, "Play")).to_be_hidden()
        says = calm.locator(".step-name").last
        named(calm, "One step back").click()
        expect(says).to_have_text("25 of 25: “·peace”")
        named(calm, "One step back").click()
        expect(says).to_have_text("24 of 25: “·of”")
        assert calm.evaluate(ROWS) == 36
    finally:
        calm.context.close()

"""The player: steps of a computation and tokens of a generation, played in the browser alone."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Locator, Page, WebSocket, expect

from tests.browser.chromium import until, wait_idle
from tests.browser.explorer_page import FIND
from tests.browser.tab import new_context
from tests.browser.waiting import rest, says, when

pytestmark = [pytest.mark.browser, pytest.mark.models]

# From within the page, so that the clock is no further however late this process looks: each step
# that is played, how much was sent to the server until then, and Pause at the second.
PLAYED = f"""() => {{
  const root = ({FIND})();
  const {{ send }} = WebSocket.prototype;
  let sent = 0;
  WebSocket.prototype.send = function (...data) {{
    sent += 1;
    return send.apply(this, data);
  }};
  const titlesNow = () => [...root.querySelectorAll('.panel .title')].map((one) => one.textContent);
  let before = String(titlesNow());
  const seen = [];
  window.played = new Promise((done) => {{
    const watcher = new MutationObserver(() => {{
      const titles = titlesNow();
      if (String(titles) === before) return;
      before = String(titles);
      seen.push([titles, sent]);
      if (seen.length < 2) return;
      watcher.disconnect();
      WebSocket.prototype.send = send;
      [...root.querySelectorAll('button')].find((one) => one.textContent === 'Pause').click();
      done(seen);
    }});
    watcher.observe(root, {{ childList: true, subtree: true, characterData: true }});
  }});
}}"""
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
    expect(titles.nth(8)).to_be_visible()
    for name in ("One step back", "Play", "One step forward"):
        when(
            page,
            named(page, name).bounding_box,
            lambda box: box is not None and min(box["width"], box["height"]) >= 24,
        )
    named(page, "One step forward").click()
    expect(titles).to_have_text(["Queries Q = X·Wq", "Keys K = X·Wk", "Scores S = Q·Kᵀ"])
    says(page, at="0")
    wait_idle(page)

    page.evaluate(PLAYED)
    named(page, "Play").click()
    first, second = page.evaluate("() => window.played")
    assert first == [["Scores S = Q·Kᵀ", "Scaled scores"], 0]
    assert second == [["Scaled scores", "Masked scores"], 0]
    expect(named(page, "Play")).to_be_visible()
    says(page, at="2")
    wait_idle(page)
    # The chosen cell goes along: its arithmetic is that of the step.
    expect(page.get_by_test_id("stBottom")).to_contain_text("may look at key 1")

    scrub = page.get_by_role("slider", name="Step", exact=True)
    before = len(sent)
    scrub.evaluate("node => { node.value = '3'; node.dispatchEvent(new Event('input')); }")
    expect(titles).to_have_text(["Masked scores", "Weights A = softmax"])
    expect(scrub).to_have_attribute("aria-valuetext", "4 of 5: Weights A = softmax")
    rest(page, 200)
    assert len(sent) == before, "dragged, it acts by itself"
    scrub.evaluate("node => node.dispatchEvent(new Event('change'))")
    says(page, at="3")
    wait_idle(page)

    visit(f"/step_by_step?{urlsplit(page.url).query}")
    expect(titles).to_have_text(["Masked scores", "Weights A = softmax"])
    named(page, "Show all").click()
    says(page, at=None)
    expect(titles.nth(8)).to_be_visible()


def test_a_generation_grows_by_a_row_a_token(
    browser: Browser, server_url: str, visit: Callable[..., Page]
) -> None:
    page = visit("/")
    expect(page.locator(".written").last).to_contain_text("The moon is a mysterious")
    until(page, lambda: page.evaluate(ROWS), 37)
    expect(page.get_by_text("Recorded, not computed now")).to_have_count(2)
    named(page, "One step forward").click()
    expect(page.locator(".written strong").last).to_have_text("")
    until(page, lambda: page.evaluate(ROWS), 13)
    named(page, "Play").click()
    expect(page.locator(".written strong").last).to_contain_text("is a mysterious")
    named(page, "Pause").click()
    assert page.evaluate(ROWS) >= 16
    expect(page.locator(".explorer .readout").last).to_contain_text("query")  # the newest row

    # The text itself has no more than was written.
    page.get_by_role("button", name="Text", exact=True).last.click()
    there = page.locator(".running [role=option]:visible")
    there.first.wait_for()
    written = page.locator(".written").last.inner_text().replace(" ", "")
    until(page, lambda: "".join(there.all_inner_texts()), written)

    calm = new_context(browser, reduced_motion="reduce").new_page()
    try:
        calm.goto(server_url)
        wait_idle(calm)
        expect(named(calm, "Play")).to_be_hidden()
        says = calm.locator(".step-name").last
        named(calm, "One step back").click()
        expect(says).to_have_text("25 of 25: “·peace”")
        named(calm, "One step back").click()
        expect(says).to_have_text("24 of 25: “·of”")
        until(calm, lambda: calm.evaluate(ROWS), 36)
    finally:
        calm.context.close()

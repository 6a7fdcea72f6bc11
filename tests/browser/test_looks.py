"""How a picture looks: threshold, palette, what of it the server hears, links that keep it."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, WebSocket, expect

from attnviz.figures import palette
from tests.browser import explorer_app
from tests.browser.chromium import until, wait_idle
from tests.browser.explorer_page import Explorer, colour, significant
from tests.browser.tab import new_context
from tests.browser.waiting import rest, when

pytestmark = pytest.mark.browser

Open = Callable[[str], Explorer]
OPTION = "[role=option]"
PICTURE = "e => e.toDataURL()"


def frames_sent(page: Page) -> list[str | bytes]:
    sent: list[str | bytes] = []

    def listen(socket: WebSocket) -> None:
        socket.on("framesent", lambda frame: sent.append(frame))

    page.on("websocket", listen)
    return sent


def test_the_threshold_acts_while_it_is_dragged_and_sends_nothing(opened: Open, page: Page) -> None:
    sent = frames_sent(page)
    explorer = opened("model")
    row, col = 9, int(np.argsort(explorer_app.weights(0, 0)[9])[-2])
    weight = float(explorer_app.weights(0, 0)[9, col])
    assert explorer.pixel("head", row, col) == colour(weight, palette.sequential())
    slider = page.get_by_role("slider", name="Hide below")
    box = slider.bounding_box()
    assert box is not None
    wait_idle(page)
    before = len(sent)
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 8, y)
    page.mouse.down()
    for share in (0.2, 0.4, 0.6, 0.8):
        drawn = explorer.ask("explorer.generation")
        page.mouse.move(box["x"] + share * box["width"], y)
        when(page, lambda: explorer.ask("explorer.generation"), lambda now, then=drawn: now > then)
    least = explorer.ask("explorer.options.least")
    assert least > weight
    assert explorer.pixel("head", row, col) == colour(0, palette.sequential())
    rest(page, 300)
    assert len(sent) == before  # not even while it rests
    page.mouse.up()
    page.get_by_text(f"least={least}").wait_for()
    when(page, lambda: len(sent), lambda now: now > before)
    note = f"Weights below {least:g} drawn as none."
    expect(page.locator(".toolbar .note")).to_contain_text(note)
    # The number is still the number.
    wait_idle(page)
    explorer.point("head", row, col)
    weighs = f"weight {significant(weight)},"
    expect(page.locator("[data-panel=head] .readout")).to_contain_text(weighs)


def test_another_look_does_not_send_the_figure_again(opened: Open, page: Page) -> None:
    received: list[int] = []
    page.on(
        "websocket",
        lambda socket: socket.on("framereceived", lambda frame: received.append(len(frame))),
    )
    explorer = opened("model")
    assert max(received) > 1_000_000
    received.clear()
    explorer.press("Lines")
    page.get_by_text("show='lines'").wait_for()
    wait_idle(page)
    assert sum(received) < 100_000


def test_a_palette_can_be_chosen(opened: Open, page: Page) -> None:
    explorer = opened("known")
    page.locator(".more summary").click()
    page.get_by_label("Palette").select_option("cividis")
    values = explorer_app.chequered().panels[0].values
    wanted = colour(float(values[2, 3]), palette.sequential(name="cividis"))
    until(page, lambda: explorer.pixel("known", 2, 3), wanted)
    page.get_by_text("palette='cividis'").wait_for()
    page.mouse.click(5, 400)
    expect(page.locator(".more[open]")).to_have_count(0)


def test_a_link_reproduces_the_picture(visit: Callable[..., Page], browser: Browser) -> None:
    page = visit("/")
    explorer = Explorer(page)
    loaded = "() => performance.getEntriesByType('resource').map(e => e.name).join(' ')"
    assert not re.search(r"(lines|text|row|beside)view\.js|compare\.js", page.evaluate(loaded))
    explorer.press("Lines")
    page.get_by_label("Add a head").select_option("3.4")
    page.get_by_role("slider", name="Hide below").first.focus()
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    explorer.press("by row")
    explorer.press("Row")
    page.locator(f".side.row {OPTION}").nth(7).click()
    words = ["row=7", "show=lines", "min=0.02", "colours=row", "bars=1", "with=3.4"]
    page.wait_for_function("all => all.every(word => location.search.includes(word))", arg=words)
    wait_idle(page)
    page.mouse.move(5, 5)
    explorer.settled()
    seen = page.locator(".lines canvas").evaluate(PICTURE)

    context = new_context(browser)
    other = context.new_page()
    other.goto(page.url)
    other.locator(".panel.lines").wait_for()
    wait_idle(other)
    second = Explorer(other)
    for part in ("explorer.options", "explorer.selection"):
        second.until(part, explorer.ask(part))
    until(other, lambda: other.locator(".lines canvas").evaluate(PICTURE), seen)
    context.close()


def test_a_hostile_link_shows_the_usual_picture(visit: Callable[..., Page]) -> None:
    page = visit(
        "/?show=%3Cscript%3E&colours=x&min=1e999&with=99.99,..%2F..&palette=x&read=7&hide=q"
    )
    explorer = Explorer(page)
    fresh = explorer.ask("JSON.stringify(explorer.options)")
    page = visit("/")
    Explorer(page).until("JSON.stringify(explorer.options)", fresh)
    until(page, lambda: "?" in page.url, False)

"""A finger on a phone: it reads, keeps, zooms and moves, and scrolls the page everywhere else."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, CDPSession, Page, expect

from tests.browser.chromium import wait_idle
from tests.browser.explorer_page import Explorer
from tests.browser.tab import new_context
from tests.browser.waiting import rest, when

pytestmark = pytest.mark.browser

Point = tuple[float, float]


class Hand:
    """Fingers on the glass, as the browser hears of them."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.session: CDPSession = page.context.new_cdp_session(page)

    def _send(self, kind: str, points: list[Point]) -> None:
        touches = [{"x": x, "y": y, "id": i} for i, (x, y) in enumerate(points)]
        self.session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": touches})

    def move(self, paths: list[tuple[Point, Point]], steps: int = 8) -> None:
        """Each finger from one point to another, all at once."""
        self._send("touchStart", [start for start, _ in paths])
        for step in range(1, steps + 1):
            part = step / steps
            self._send(
                "touchMove",
                [(a[0] + (b[0] - a[0]) * part, a[1] + (b[1] - a[1]) * part) for a, b in paths],
            )
            self.page.wait_for_timeout(16)
        self._send("touchEnd", [])
        rest(self.page, 400)  # a flick goes on by itself


@pytest.fixture
def phone(browser: Browser, address: str) -> Iterator[Callable[[str], Explorer]]:
    context = new_context(
        browser,
        viewport={"width": 390, "height": 844},
        has_touch=True,
        is_mobile=True,
        device_scale_factor=2,
    )
    page = context.new_page()

    def open_case(case: str) -> Explorer:
        page.goto(f"{address}/?case={case}")
        page.locator(".explorer[data-generation]").wait_for()
        wait_idle(page)
        return Explorer(page)

    yield open_case
    context.close()


def scrolled(page: Page) -> float:
    return page.evaluate("document.querySelector('[data-testid=stMain]').scrollTop")


def map_box(explorer: Explorer) -> dict[str, float]:
    """The map on the screen, scrolled to."""
    explorer.page.locator(".panel .plot").first.scroll_into_view_if_needed()
    return explorer.ask(
        """(() => { const one = [...explorer.views.values()][0]; const { plan } = one.scene;
        const box = one.base.getBoundingClientRect();
        return { x: box.left + plan.x, y: box.top + plan.y, w: plan.w, h: plan.h }; })()"""
    )


def test_a_tap_reads_and_keeps(phone: Callable[[str], Explorer]) -> None:
    explorer = phone("model")
    map_box(explorer)
    explorer.page.touchscreen.tap(*explorer.cell("head", 40, 8))
    explorer.page.get_by_text("row=40, col=8").wait_for()
    expect(explorer.page.locator("[data-panel=head] .readout")).to_have_text(
        re.compile("^the 40 → was 8: weight")
    )
    explorer.page.touchscreen.tap(*explorer.cell("head", 40, 8))
    explorer.page.get_by_text("row=None, col=None").wait_for()


def test_two_fingers_zoom_and_one_moves(phone: Callable[[str], Explorer]) -> None:
    explorer = phone("model")
    hand = Hand(explorer.page)
    box = map_box(explorer)
    x, y = box["x"] + box["w"] / 2, box["y"] + box["h"] / 2
    before = scrolled(explorer.page)
    hand.move([((x - 20, y), (x - 80, y)), ((x + 20, y), (x + 80, y))])
    four = pytest.approx(4, rel=0.25)
    zoomed = when(explorer.page, lambda: explorer.window("head"), lambda now: now[0] == four)
    # What was between the fingers still is.
    assert zoomed[2] + 64 / zoomed[0] / 2 == pytest.approx(32, abs=3)
    assert scrolled(explorer.page) == before
    scale = explorer.page.evaluate("visualViewport.scale")
    assert scale == 1  # the map, not the page

    hand.move([((x, y), (x + 60, y + 40))])
    moved = when(explorer.page, lambda: explorer.window("head"), lambda now: now[2] < zoomed[2])
    assert moved[0] == zoomed[0]
    assert moved[1] < zoomed[1]
    assert scrolled(explorer.page) == before
    wait_idle(explorer.page)
    assert "row=None" in explorer.page.get_by_text("picked").inner_text()  # no drag keeps a cell

    hand.move([((x - 80, y), (x - 10, y)), ((x + 80, y), (x + 10, y))])
    when(explorer.page, lambda: explorer.window("head"), lambda now: now[0] < 1.5)


def test_one_finger_scrolls_the_page_over_a_map_shown_whole(
    phone: Callable[[str], Explorer],
) -> None:
    explorer = phone("model")
    hand = Hand(explorer.page)
    box = map_box(explorer)
    x, y = box["x"] + box["w"] / 2, box["y"] + box["h"] / 2
    before = scrolled(explorer.page)
    up = 120 if before > 150 else -120
    hand.move([((x, y), (x, y + up))])
    when(explorer.page, lambda: scrolled(explorer.page), lambda now: abs(now - before) > 60)
    assert explorer.window("head")[0] == 1
    wait_idle(explorer.page)
    assert "row=None" in explorer.page.get_by_text("picked").inner_text()


def test_buttons_do_what_fingers_do(phone: Callable[[str], Explorer]) -> None:
    explorer = phone("model")
    page = explorer.page
    page.get_by_role("button", name="Zoom in (+)").tap()
    page.get_by_role("button", name="Zoom in (+)").tap()
    zoomed = when(page, lambda: explorer.window("head"), lambda now: now[0] > 2)
    page.get_by_role("button", name="Move down (Shift + ↓)").tap()
    when(page, lambda: explorer.window("head"), lambda now: now[1] > zoomed[1])


@pytest.mark.parametrize("case", ["model", "walk", "hostile"])
def test_targets_meet_a_finger(phone: Callable[[str], Explorer], case: str) -> None:
    """24 CSS pixels each way, of everything that can be pressed, in every view."""
    explorer = phone(case)
    for size in ({"width": 390, "height": 844}, {"width": 1440, "height": 900}):
        explorer.page.set_viewport_size(size)
        for view in ("Matrix", "Lines", "Text", "Compare"):
            if explorer.page.get_by_role("button", name=view, exact=True).count() == 0:
                continue
            explorer.press(view)
            explorer.ask("explorer.change({row: true, table: true, others: ['1.1', '0.1']})")
            explorer.ask("explorer.root.querySelectorAll('details').forEach(e => e.open = true)")
            explorer.settled()
            small = explorer.ask(
                """[...explorer.root.querySelectorAll(
                    'button, select, summary, input, textarea, a, [role=option], [role=listbox]')]
                  .filter(e => e.checkVisibility())
                  // Words of a running text are as wide as they are, as links in a sentence may be.
                  .filter(e => !e.closest('.running'))
                  .map(e => [e.outerHTML.slice(0, 120), e.getBoundingClientRect()])
                  .filter(([, { width, height }]) => Math.min(width, height) < 24)
                  .map(([html, { width, height }]) => `${width} x ${height}: ${html}`)"""
            )
            assert small == [], (size, view)
    pitch = explorer.ask("explorer.grid?.scene.plan.pitch ?? 24")
    assert pitch >= 24

"""Tokens that are anything but words: in every view they are themselves, and make nothing."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser import explorer_app
from tests.browser.chromium import until
from tests.browser.explorer_page import Explorer

pytestmark = pytest.mark.browser

Open = Callable[[str], Explorer]
# What would turn its neighbours round is named; all else is as it is.
WRITTEN = [label.replace("\u202e", "‹202E›") for label in explorer_app.HOSTILE]
ELEMENTS = "'img, b, script, iframe, style, svg, a, object, embed, form, video, link'"


@pytest.fixture
def hostile(opened: Open, page: Page) -> Explorer:
    page.set_viewport_size({"width": 1440, "height": 1200})
    explorer = opened("hostile")
    page.evaluate("() => { window.planted = () => { window.harmed = true; }; }")
    return explorer


@pytest.fixture(autouse=True)
def nothing_made(page: Page, hostile: Explorer):
    before = page.evaluate("() => document.querySelectorAll('script, img').length")
    yield
    assert hostile.ask(f"[...explorer.root.querySelectorAll({ELEMENTS})].length") == 0
    assert page.evaluate("() => document.querySelectorAll('script, img').length") == before
    assert page.evaluate("() => window.harmed") is None
    assert hostile.ask("explorer.root.scrollWidth - explorer.root.clientWidth") <= 0


def test_in_the_matrix_and_its_readout(hostile: Explorer, page: Page) -> None:
    drawn = hostile.ask(
        "(({rowTicks, colTicks}) => [rowTicks.map(t => t.text), colTicks.map(t => t.text)])"
        "(explorer.views.get('weights').scene.plan)"
    )
    for labels in drawn:
        assert len(labels) == len(WRITTEN)
        for label, written in zip(labels, WRITTEN, strict=True):
            cut = label.endswith("…")
            assert written.startswith(label.removesuffix("…")) if cut else written == label
    for row, col in ((11, 0), (8, 1), (10, 3), (6, 5), (9, 7)):
        said = hostile.hover("weights", row, col)
        assert said.startswith(f"{WRITTEN[row]} {row} → {WRITTEN[col]} {col}: weight")
    # A label pointed at says all of its token.
    _, y = hostile.cell("weights", 4, 0)
    left = hostile.ask("explorer.views.get('weights').base.getBoundingClientRect().left")
    page.mouse.move(left + 20, y)
    said = f"query 4 {'x' * 200}"
    until(page, lambda: hostile.readout("weights"), said)
    assert hostile.ask("explorer.views.get('weights').active.cell.textContent") == said
    tokens = hostile.ask(
        "[...explorer.root.querySelectorAll('.readout .token')].map(e => e.tagName)"
    )
    assert set(tokens) == {"BDI"}  # a right-to-left token leaves its neighbours where they are
    page.mouse.move(*hostile.small_map(0, 1))
    expect(page.locator(".grid-view .readout")).to_have_text("Head 1")


@pytest.mark.parametrize("lay", ["columns", "rows"])
def test_in_lines(hostile: Explorer, page: Page, lay: str) -> None:
    hostile.ask(f"explorer.change({{show: 'lines', lines: '{lay}'}})")
    page.locator(".panel.lines").wait_for()
    hostile.settled()
    for side in ("row", "col"):
        assert page.locator(f".side.{side} .token").all_inner_texts() == WRITTEN
    assert page.locator(".side .position").all_inner_texts() == [*map(str, range(12))] * 2
    page.locator(".side.row [role=option]").nth(6).click()
    page.locator(".side.col [role=option]").nth(5).hover()
    expect(page.locator(".lines .readout")).to_contain_text("·the 6 → ·the 5: weight")


def test_in_the_text(hostile: Explorer, page: Page) -> None:
    hostile.press("Text")
    page.locator(".panel.text").wait_for()
    words = page.locator(".running [role=option]").all_inner_texts()
    assert words == [word.removeprefix("·") if len(word) > 1 else word for word in WRITTEN]
    page.locator(".running [role=option]").nth(0).hover()
    expect(page.locator(".text .subtitle")).to_contain_text(WRITTEN[0])


def test_in_the_row_and_in_the_comparison(hostile: Explorer, page: Page) -> None:
    hostile.press("Row")
    hostile.click("weights", 11, 0)
    page.locator(".ranked .bar").first.wait_for()
    hostile.settled()
    assert sorted(page.locator(".ranked .bar .token").all_inner_texts()) == sorted(WRITTEN)
    hostile.press("Compare")
    page.locator("[data-panel='weights~difference']").wait_for()
    said = hostile.hover("weights~difference", 9, 7)
    assert said.startswith(f"{WRITTEN[9]} 9 → {WRITTEN[7]} 7: difference")


def test_in_the_table_and_aloud(hostile: Explorer, page: Page) -> None:
    hostile.press("Table")
    page.locator("table").wait_for()
    for scope in ("row", "col"):
        assert page.locator(f"th[scope={scope}] bdi").all_inner_texts() == WRITTEN
    hostile.click("weights", 8, 0)
    aloud = f"Kept: {WRITTEN[8]} 8 → {WRITTEN[0]} 0: weight"
    until(
        page,
        lambda: hostile.ask("explorer.voice.root.textContent")[: len(aloud)],
        aloud,
    )

"""A cell or a head that a reader chooses in the explorer, and what Python knows of it."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser import explorer_app
from tests.browser.chromium import wait_idle
from tests.browser.explorer_page import Explorer, significant
from tests.browser.tab import new_context

pytestmark = pytest.mark.browser

READOUT = "[data-panel=weights] .readout"


def test_a_click_reaches_python_and_escape_takes_it_back(
    opened: Callable[[str], Explorer], page: Page
) -> None:
    explorer = opened("head")
    explorer.click("weights", 5, 2)
    page.get_by_text("panel='weights', row=5, col=2").wait_for()
    page.mouse.move(5, 5)
    expect(page.locator(READOUT)).to_have_text(re.compile("^mat 5 → sat 2: weight"))
    page.get_by_role("grid").focus()
    page.keyboard.press("Escape")
    page.get_by_text("panel=None, row=None, col=None").wait_for()


def test_the_keyboard_reads_and_pins(opened: Callable[[str], Explorer], page: Page) -> None:
    opened("head")
    page.keyboard.press("Tab")
    page.get_by_role("grid").focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowDown", "ArrowRight"):
        page.keyboard.press(key)
    said = re.compile("^on 3 → cat 1: weight")
    expect(page.locator(READOUT)).to_have_text(said)
    active = page.get_by_role("gridcell")
    expect(active).to_have_text(said)
    expect(active).to_have_attribute("aria-colindex", "2")
    # Each move has another active cell, which is read out; the live region keeps silent.
    before = active.get_attribute("id") or ""
    expect(page.get_by_role("grid")).to_have_attribute("aria-activedescendant", before)
    page.keyboard.press("ArrowLeft")
    expect(active).not_to_have_attribute("id", before)
    voice = page.locator(".explorer > [role=status]")
    assert voice.inner_text() == ""
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.get_by_text("panel='weights', row=3, col=1").wait_for()
    expect(voice).to_have_text(re.compile("^Kept: on 3 → cat 1: weight"))
    expect(active).to_have_attribute("aria-selected", "true")


def test_python_sets_the_selection(opened: Callable[[str], Explorer], page: Page) -> None:
    explorer = opened("pushed")
    expect(page.locator(READOUT)).to_have_text(re.compile("^the 0 → the 0"))
    explorer.click("weights", 7, 6)
    page.get_by_text("row=7, col=6").wait_for()
    page.get_by_text("Run again").click()
    wait_idle(page)
    page.get_by_text("row=7, col=6").wait_for()
    page.get_by_text("3", exact=True).click()
    page.get_by_text("row=3, col=0").wait_for()
    page.mouse.move(5, 5)
    expect(page.locator(READOUT)).to_have_text(re.compile("^on 3 → the 0"))


def test_heads_of_a_stack_switch_in_the_browser(
    opened: Callable[[str], Explorer], page: Page
) -> None:
    explorer = opened("model")
    wait_idle(page)
    node = explorer.ask("(explorer.marked = 1, explorer.generation)")
    explorer.click_head(17, 4)
    expect(page.locator("h2.title")).to_have_text("Layer 17, head 4")
    shown = explorer.ask("Array.from(explorer.views.get('head').scene.panel.values.slice(-64))")
    grid = explorer_app.model().grid
    assert grid is not None
    assert grid.stack is not None
    assert np.array_equal(np.array(shown, np.float32), grid.stack[17, 4, -1])
    page.get_by_text("layer=17, head=4").wait_for()
    wait_idle(page)
    # The same instance still, and the figure was not sent again.
    assert explorer.ask("explorer.marked") == 1
    assert explorer.ask("explorer.generation") < node + 10


def test_without_a_stack_the_server_sends_the_head(
    opened: Callable[[str], Explorer], page: Page
) -> None:
    explorer = opened("server")
    for layer, head in ((12, 7), (29, 0)):
        explorer.click_head(layer, head)
        page.get_by_text(f"layer={layer}, head={head}").wait_for()
        wait_idle(page)
        expect(page.locator("h2.title")).to_have_text(f"Layer {layer}, head {head}")


def test_a_metric_colours_the_grid(opened: Callable[[str], Explorer], page: Page) -> None:
    explorer = opened("model")
    page.get_by_label("Colour thumbnails by").select_option("first-token mass")
    page.mouse.move(*explorer.small_map(3, 2))
    grid = explorer_app.model().grid
    assert grid is not None
    mass = significant(grid.metrics["first-token mass"][3, 2])
    said = f"Layer 3, head 2, first-token mass {mass}"
    expect(page.locator(".grid-view")).to_contain_text(said)


def test_a_finger_keeps_a_cell(browser: Browser, address: str) -> None:
    phone = {"width": 390, "height": 844}
    context = new_context(browser, viewport=phone, has_touch=True, device_scale_factor=3)
    page = context.new_page()
    page.goto(f"{address}/?case=head")
    page.locator(".explorer[data-generation]").wait_for()
    wait_idle(page)
    explorer = Explorer(page)
    page.touchscreen.tap(*explorer.cell("weights", 9, 8))
    page.get_by_text("row=9, col=8").wait_for()
    expect(page.locator(READOUT)).to_have_text(re.compile("^warm 9 → was 8: weight"))
    context.close()

"""Heads beside the open one: compared as matrices, or as lines of their own colours."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser import explorer_app
from tests.browser.chromium import until, wait_idle
from tests.browser.explorer_page import Explorer, significant
from tests.browser.waiting import when

pytestmark = pytest.mark.browser

Open = Callable[[str], Explorer]


def test_heads_are_compared_on_one_scale_and_less_each_other(opened: Open, page: Page) -> None:
    explorer = opened("model")
    explorer.press("Hide first token")
    page.keyboard.press("Escape")
    explorer.press("Compare")
    page.keyboard.down("Shift")
    explorer.click_head(12, 7)
    page.keyboard.up("Shift")
    titles = ["Layer 0, head 0", "Layer 12, head 7", "Difference"]
    expect(page.locator(".panel .title")).to_have_text(titles)
    ends = explorer.ask("[...explorer.views.values()].map(v => v.scene.scale.hi)")
    assert ends[0] == ends[1]
    maps = [explorer_app.weights(0, 0), explorer_app.weights(12, 7)]
    assert ends[0] == pytest.approx(max(one[:, 1:].max() for one in maps))
    wait_idle(page)
    explorer.point("head", 40, 31)
    one, other = (weights[40, 31] for weights in maps)
    gap = significant(abs(one - other))
    for panel, said in (
        ("head", f"weight {significant(one)},"),
        ("head~other", f"weight {significant(other)},"),
        ("head~difference", f"difference {'−' if one < other else ''}{gap}"),
    ):
        expect(page.locator(f"[data-panel='{panel}'] .readout")).to_contain_text(said)
    explorer.click("head~other", 40, 31)
    page.get_by_text("panel='head', row=40, col=31").wait_for()

    # What one shows the others show.
    windows = "[...explorer.views.values()].map(v => Object.values(v.viewport.window).join(' '))"
    page.locator("[data-panel='head~other']").get_by_role("button", name="Zoom in (+)").click()
    page.locator("[data-panel='head~other']").get_by_role("button", name="Zoom in (+)").click()
    page.locator("[data-panel='head']").get_by_role("button", name=re.compile("Move down")).click()
    first, *others = when(page, lambda: explorer.ask(windows), lambda all: all[0][:5] == "2.56 ")
    assert others == [first, first]
    ticks = "[...explorer.views.values()].map(v => v.scene.plan.rowTicks.map(t => t.at).join())"
    assert len(set(explorer.ask(ticks))) == 1
    page.locator("[data-panel='head~difference']").get_by_role("button", name="Fit").click()
    explorer.until(windows, ["1 0 0"] * 3)


def test_several_heads_as_lines_have_chips_and_colours_of_their_own(
    opened: Open, page: Page
) -> None:
    explorer = opened("model")
    explorer.press("Lines")
    page.get_by_label("Add a head").select_option("3.4")
    chips = page.locator(".chip")
    expect(chips).to_have_count(2)
    page.get_by_label("Add a head").select_option("5.1")
    expect(chips).to_have_count(3)
    expect(chips.nth(1)).to_have_text(re.compile("^Layer 3, head 4"))

    def dots() -> list[str]:
        return page.locator(".chip .dot").evaluate_all("all => all.map(e => e.style.background)")

    first, second, third = dots()
    assert len({first, second, third}) == 3
    page.get_by_role("button", name="Remove Layer 3, head 4").click()
    until(page, dots, [first, third])
    page.get_by_text("others=('5.1',)").wait_for()

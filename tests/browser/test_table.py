"""The table of what is in sight, the sentence over what is refused, and where all of it stands."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from tests.browser import explorer_app
from tests.browser.chromium import wait_idle
from tests.browser.explorer_page import Explorer
from tests.browser.waiting import rest, when

pytestmark = pytest.mark.browser

Open = Callable[[str], Explorer]


def numbers(page: Page) -> np.ndarray:
    """What the table says, to the last bit; NaN where it says undefined."""
    rows = page.locator("tbody tr").evaluate_all(
        "rows => rows.map(r => [...r.querySelectorAll('td')].map(c => c.dataset.value))"
    )
    return np.array(rows, np.float32)


def are(page: Page, values: np.ndarray) -> None:
    """Wait until the table says exactly these numbers."""
    when(page, lambda: numbers(page), lambda found: np.array_equal(found, values))


def test_the_table_is_the_numbers_in_sight(opened: Open, page: Page) -> None:
    explorer = opened("model")
    loaded = (
        "() => performance.getEntriesByType('resource').some(e => e.name.includes('tableview'))"
    )
    assert page.evaluate(loaded) is False
    assert page.locator("table").count() == 0
    explorer.press("Table")
    page.locator("table").wait_for()
    values = explorer_app.model().panels[0].values
    are(page, values[:12, :12])
    expect(page.locator("caption")).to_have_text(
        "Layer 0, head 0: rows 0 to 11 of 64, columns 0 to 11 of 64. One cell is a weight."
    )
    expect(page.locator("thead th[scope=col]")).to_have_count(12)
    expect(page.locator("tbody th[scope=row]").nth(1)).to_have_text("cat 1")
    expect(page.locator("tbody td").nth(1)).to_have_text("masked")

    page.get_by_role("button", name="Later rows").click()
    page.get_by_role("button", name="Later columns").click()
    are(page, values[12:24, 12:24])
    # It goes where the reader goes: to a kept cell, to a zoom.
    explorer.click("head", 50, 3)
    kept = page.locator("td[aria-current=true]")
    assert float(kept.get_attribute("data-value") or "nan") == pytest.approx(values[50, 3])
    explorer.ask("explorer.views.get('head').viewport.go({zoom: 8, row: 30.5, col: 16.2})")
    are(page, values[31:43, 17:29])
    for _ in range(2):
        page.get_by_role("button", name="Later rows").click()
    later = page.get_by_role("button", name="Later rows")
    expect(later).to_have_attribute("aria-disabled", "true")
    are(page, values[52:64, 17:29])
    page.get_by_text("table=True").wait_for()

    explorer.ask("explorer.grid.root.scrollIntoView({block: 'start'})")
    explorer.click_head(3, 4)
    are(page, explorer_app.weights(3, 4)[52:64, 17:29])
    explorer.press("Table")
    expect(page.locator("table")).to_have_count(0)


def test_every_matrix_can_be_tabled(opened: Open, page: Page) -> None:
    explorer = opened("walk")
    explorer.press("Table")
    panels = {panel.title: panel for panel in explorer_app.walk().panels}
    for title in ("Query", "Masked", "Output"):
        page.locator(".tabled select").select_option(title)
        expected = panels[title].values
        masked = panels[title].blocked
        are(page, expected if masked is None else np.where(masked, 0, expected))
    explorer.click("scores", 4, 2)
    of_scores = re.compile("^Scores: all 6 rows, all 6 columns.")
    expect(page.locator("caption")).to_have_text(of_scores)

    opened("known").press("Table")
    expect(page.locator("tbody tr").nth(1).locator("td").nth(1)).to_have_text("undefined")
    expect(page.locator("tbody tr").nth(0).locator("td").nth(5)).to_have_text("masked")


def test_a_refusal_is_said_over_the_map(opened: Open, page: Page) -> None:
    explorer = opened("refusing")
    said = page.locator(".panel .refusal")
    assert said.is_hidden()
    wait_idle(page)
    explorer.ask("explorer.select({layer: 1, head: 2})")
    words = page.get_by_text("Layer 1, head 2 is not here. Expected layer 0, got layer 1.")
    words.wait_for(timeout=90_000)
    # The map that is still shown keeps its own name and strength, and is not asked for for ever.
    expect(page.locator(".panel .title")).to_have_text("Layer 0, head 0")
    explorer.until("explorer.root.classList.contains('waiting')", False)
    number = explorer.ask("explorer.depot.wire.number")
    explorer.ask("explorer.drawNow()")
    rest(page, 300)
    assert explorer.ask("explorer.depot.wire.number") == number
    wait_idle(page)
    explorer.ask("explorer.select({layer: 0, head: 1})")
    page.locator(".panel .title", has_text="Layer 0, head 1").wait_for(timeout=90_000)
    expect(said).to_be_hidden()

    plot = explorer.ask("({...explorer.views.get('weights').viewport.window})")
    assert plot["zoom"] == 1
    explorer.ask("explorer.views.get('weights').viewport.go({zoom: 16, row: 200, col: 100})")
    page.get_by_text("No exact weights here. Expected the whole map, got a part of it.").wait_for()
    expect(page.locator(".zoombar .note")).not_to_contain_text("Asking")
    explorer.ask("explorer.views.get('weights').viewport.go({zoom: 1, row: 0, col: 0})")
    said.wait_for(state="hidden")


def test_the_open_map_has_half_a_desk_and_the_grid_stays(visit: Callable[..., Page]) -> None:
    page = visit("/inspect_model")
    explorer = Explorer(page)
    when(
        page,
        lambda: explorer.ask("[...explorer.views.values()][0].scene.plan"),
        lambda plan: min(plan["w"], plan["h"]) >= 480,
    )
    grid = page.locator(".grid-view .plot").bounding_box()
    panel = page.locator(".panel").bounding_box()
    assert grid is not None
    assert panel is not None
    assert grid["x"] + grid["width"] < panel["x"]
    # On one screen: from the title to the buttons below the map.
    assert panel["height"] <= 900 - 60
    page = visit("/inspect_model?show=compare")
    last = page.locator(".panel").nth(2)
    last.wait_for()
    when(
        page,
        last.bounding_box,
        lambda box: box is not None and box["y"] + box["height"] <= 900,
    )


def test_the_arithmetic_leaves_a_phone_to_the_picture(visit: Callable[..., Page]) -> None:
    page = visit("/step_by_step")
    page.set_viewport_size({"width": 390, "height": 844})
    wait_idle(page)
    when(
        page,
        page.get_by_test_id("stBottom").bounding_box,
        lambda box: box is not None and box["height"] <= 0.17 * 844,
    )
    # And it hides none of the words.
    inside = page.locator(".st-key-arithmetic").evaluate(
        "e => [...e.querySelectorAll('p, [data-testid=stText]')]"
        ".map(p => e.getBoundingClientRect().bottom - p.getBoundingClientRect().bottom)"
    )
    assert len(inside) >= 2
    assert min(inside) >= 0

"""The table of what is in sight, the sentence over what is refused, and where all of it stands."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from playwright.sync_api import Page

from tests.browser import explorer_app
from tests.browser.chromium import wait_idle
from tests.browser.explorer_page import Explorer

pytestmark = pytest.mark.browser

Open = Callable[[str], Explorer]


def numbers(page: Page) -> np.ndarray:
    """What the table says, to the last bit; NaN where it says undefined."""
    rows = page.locator("tbody tr").evaluate_all(
        "rows => rows.map(r => [...r.querySelectorAll('td')].map(c => c.dataset.value))"
    )
    return np.array(rows, np.float32)


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
    assert np.array_equal(numbers(page), values[:12, :12])
    caption = page.locator("caption").inner_text()
    assert caption == (
        "Layer 0, head 0: rows 0 to 11 of 64, columns 0 to 11 of 64. One cell is a weight."
    )
    assert page.locator("thead th[scope=col]").count() == 12
    assert page.locator("tbody th[scope=row]").all_inner_texts()[1] == "cat 1"
    assert page.locator("tbody td").nth(1).inner_text() == "masked"

    page.get_by_role("button", name="Later rows").click()
    page.get_by_role("button", name="Later columns").click()
    assert np.array_equal(numbers(page), values[12:24, 12:24])
    # It goes where the reader goes: to a kept cell, to a zoom.
    page.mouse.click(*explorer.cell("head", 50, 3))
    explorer.settled()
    kept = page.locator("td[aria-current=true]")
    assert float(kept.get_attribute("data-value") or "nan") == pytest.approx(values[50, 3])
    explorer.ask("explorer.views.get('head').viewport.go({zoom: 8, row: 30.5, col: 16.2})")
    explorer.settled()
    assert np.array_equal(numbers(page), values[31:43, 17:29])
    for _ in range(2):
        page.get_by_role("button", name="Later rows").click()
    later = page.get_by_role("button", name="Later rows")
    assert later.get_attribute("aria-disabled") == "true"
    assert np.array_equal(numbers(page), values[52:64, 17:29])
    page.get_by_text("table=True").wait_for()

    explorer.ask("explorer.grid.root.scrollIntoView({block: 'start'})")
    box = explorer.ask("explorer.grid.cellBox(3, 4)")
    page.mouse.click(box["x"] + 5, box["y"] + 5)
    explorer.settled()
    grid = explorer_app.model().grid
    assert grid is not None
    assert grid.stack is not None
    assert np.array_equal(numbers(page), grid.stack[3, 4, 52:64, 17:29])
    explorer.press("Table")
    assert page.locator("table").count() == 0


def test_every_matrix_can_be_tabled(opened: Open, page: Page) -> None:
    explorer = opened("walk")
    explorer.press("Table")
    panels = {panel.title: panel for panel in explorer_app.walk().panels}
    for title in ("Query", "Masked", "Output"):
        page.locator(".tabled select").select_option(title)
        found = numbers(page)
        expected = panels[title].values
        masked = panels[title].blocked
        assert np.array_equal(found, expected if masked is None else np.where(masked, 0, expected))
    page.mouse.click(*explorer.cell("scores", 4, 2))
    explorer.settled()
    assert page.locator("caption").inner_text().startswith("Scores: all 6 rows, all 6 columns.")

    opened("known").press("Table")
    assert page.locator("tbody tr").nth(1).locator("td").nth(1).inner_text() == "undefined"
    assert page.locator("tbody tr").nth(0).locator("td").nth(5).inner_text() == "masked"


def test_a_refusal_is_said_over_the_map(opened: Open, page: Page) -> None:
    explorer = opened("refusing")
    said = page.locator(".panel .refusal")
    assert said.is_hidden()
    wait_idle(page)
    explorer.ask("explorer.select({layer: 1, head: 2})")
    words = page.get_by_text("Layer 1, head 2 is not here. Expected layer 0, got layer 1.")
    words.wait_for(timeout=90_000)
    # The map that is still shown keeps its own name and strength, and is not asked for for ever.
    assert page.locator(".panel .title").inner_text() == "Layer 0, head 0"
    assert explorer.ask("explorer.root.classList.contains('waiting')") is False
    number = explorer.ask("explorer.depot.wire.number")
    explorer.ask("explorer.draw()")
    page.wait_for_timeout(300)
    assert explorer.ask("explorer.depot.wire.number") == number
    wait_idle(page)
    explorer.ask("explorer.select({layer: 0, head: 1})")
    page.locator(".panel .title", has_text="Layer 0, head 1").wait_for(timeout=90_000)
    assert said.is_hidden()

    plot = explorer.ask("({...explorer.views.get('weights').viewport.window})")
    assert plot["zoom"] == 1
    explorer.ask("explorer.views.get('weights').viewport.go({zoom: 16, row: 200, col: 100})")
    page.get_by_text("No exact weights here. Expected the whole map, got a part of it.").wait_for()
    assert "Asking" not in page.locator(".zoombar .note").inner_text()
    explorer.ask("explorer.views.get('weights').viewport.go({zoom: 1, row: 0, col: 0})")
    said.wait_for(state="hidden")


def test_the_open_map_has_half_a_desk_and_the_grid_stays(visit: Callable[..., Page]) -> None:
    page = visit("/inspect_model")
    explorer = Explorer(page)
    plan = explorer.ask("[...explorer.views.values()][0].scene.plan")
    assert min(plan["w"], plan["h"]) >= 480
    grid = page.locator(".grid-view .plot").bounding_box()
    panel = page.locator(".panel").bounding_box()
    assert grid is not None
    assert panel is not None
    assert grid["x"] + grid["width"] < panel["x"]
    # On one screen: from the title to the buttons below the map.
    assert panel["height"] <= 900 - 60
    page = visit("/inspect_model?show=compare")
    page.locator(".panel").nth(2).wait_for()
    last = page.locator(".panel").nth(2).bounding_box()
    assert last is not None
    assert last["y"] + last["height"] <= 900


def test_the_arithmetic_leaves_a_phone_to_the_picture(visit: Callable[..., Page]) -> None:
    page = visit("/step_by_step")
    page.set_viewport_size({"width": 390, "height": 844})
    wait_idle(page)
    box = page.get_by_test_id("stBottom").bounding_box()
    assert box is not None
    assert box["height"] <= 0.17 * 844
    # And it hides none of the words.
    inside = page.locator(".st-key-arithmetic").evaluate(
        "e => [...e.querySelectorAll('p, [data-testid=stText]')]"
        ".map(p => e.getBoundingClientRect().bottom - p.getBoundingClientRect().bottom)"
    )
    assert len(inside) >= 2
    assert min(inside) >= 0

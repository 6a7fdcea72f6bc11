"""Step by step in a browser: clicking a cell, sharing it, hostile text, a phone."""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import quote, urlsplit

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.chromium import wait_idle
from tests.browser.waiting import fits, says, when

pytestmark = [pytest.mark.browser, pytest.mark.models]

CELL = """([panel, row, col]) => {
  for (const element of document.querySelectorAll('*')) {
    const root = element.shadowRoot?.querySelector('.explorer');
    if (!root) continue;
    const view = root.__explorer.views.get(panel);
    view.base.scrollIntoView({ block: 'center' });
    return view.cellBox(row, col);
  }
}"""


def click(page: Page, panel: str, row: int, col: int) -> None:
    box = page.evaluate(CELL, [panel, row, col])
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    wait_idle(page)


def told(page: Page) -> Locator:
    """The arithmetic that is pinned below the page."""
    return page.get_by_test_id("stBottom")


def test_a_clicked_cell_is_told_and_lands_in_the_link(visit: Callable[..., Page]) -> None:
    page = visit("/step_by_step")
    expect(told(page)).to_contain_text(
        "Query 2 (·sat) times key 1 (·cat), channel by channel, summed."
    )
    assert not urlsplit(page.url).query
    click(page, "weights", 4, 3)
    expect(told(page)).to_contain_text("The share of key 3 (·on)")
    expect(told(page).locator(".katex")).to_have_count(1)
    says(page, panel="weights", row="4", col="3")
    again = visit(f"/step_by_step?{urlsplit(page.url).query}")
    expect(told(again)).to_contain_text("The share of key 3 (·on)")


def test_the_mask_and_the_scaling_change_the_numbers(visit: Callable[..., Page]) -> None:
    page = visit("/step_by_step?panel=masked&row=1&col=4")
    expect(told(page)).to_contain_text("may look at key 4")
    page.get_by_role("combobox", name=re.compile("Mask")).click()
    page.get_by_role("option", name="causal", exact=True).click()
    expect(told(page)).to_contain_text("may not look at key 4")
    wait_idle(page)
    page.get_by_text("Divide by √d_k", exact=True).click()
    expect(page.get_by_text("scale 1, mask causal")).to_be_visible()
    says(page, mask="causal", scale="false")


def test_typed_html_creates_no_element(visit: Callable[..., Page]) -> None:
    text = '<img src=x onerror="document.title=1"><b>x</b> $5 and $6'
    page = visit(f"/step_by_step?text={quote(text)}&panel=inputs&row=0&col=0&tab=code")
    expect(page).to_have_title("Step by step · attnviz")
    assert page.get_by_test_id("stMain").locator("img, b, script").count() == 0
    assert told(page).locator("img, b, script").count() == 0
    assert page.title() == "Step by step · attnviz"  # nothing has changed it


@pytest.mark.parametrize("tab", ["scaling", "dictionary", "code"])
def test_nothing_is_wider_than_a_phone(visit: Callable[..., Page], page: Page, tab: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    visit(f"/step_by_step?tab={quote(tab)}")
    fits(page, 390)
    main, pinned = page.get_by_test_id("stMain"), told(page)
    high = "node => node.getBoundingClientRect().height"
    third = main.evaluate(high) / 3
    when(page, lambda: pinned.evaluate(high), lambda now: now < third)


def test_other_pages_take_over_shared_controls(visit: Callable[..., Page]) -> None:
    page = visit("/step_by_step?mask=window&text=a%20b%20c")
    page.get_by_role("link", name="Masks").click()
    page.get_by_role("heading", name="Which words may a word look at?").wait_for()
    wait_idle(page)
    assert page.get_by_test_id("stException").count() == 0
    page.get_by_role("link", name="Step by step").click()
    page.get_by_role("heading", name="What does one attention head compute?").wait_for()
    wait_idle(page)
    assert page.get_by_test_id("stException").count() == 0
    expect(page.get_by_role("textbox", name="Text")).to_have_value("a b c")

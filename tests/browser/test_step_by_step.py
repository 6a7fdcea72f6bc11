"""Step by step in a browser: clicking a cell, sharing it, hostile text, a phone."""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import parse_qs, quote, urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.browser.chromium import wait_idle

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


def told(page: Page) -> str:
    """The arithmetic that is pinned below the page."""
    return page.get_by_test_id("stBottom").inner_text()


def test_a_clicked_cell_is_told_and_lands_in_the_link(visit: Callable[..., Page]) -> None:
    page = visit("/step_by_step")
    assert "Query 2 (·sat) times key 1 (·cat), channel by channel, summed." in told(page)
    assert not urlsplit(page.url).query
    click(page, "weights", 4, 3)
    expect(page.get_by_test_id("stBottom")).to_contain_text("The share of key 3 (·on)")
    expect(page.get_by_test_id("stBottom").locator(".katex")).to_have_count(1)
    page.wait_for_url(re.compile("row=4"))
    link = parse_qs(urlsplit(page.url).query)
    assert (link["panel"], link["row"], link["col"]) == (["weights"], ["4"], ["3"])
    again = visit(f"/step_by_step?{urlsplit(page.url).query}")
    assert "The share of key 3 (·on)" in told(again)


def test_the_mask_and_the_scaling_change_the_numbers(visit: Callable[..., Page]) -> None:
    page = visit("/step_by_step?panel=masked&row=1&col=4")
    assert "may look at key 4" in told(page)
    page.get_by_role("combobox", name=re.compile("Mask")).click()
    page.get_by_role("option", name="causal", exact=True).click()
    expect(page.get_by_test_id("stBottom")).to_contain_text("may not look at key 4")
    wait_idle(page)
    page.get_by_text("Divide by √d_k", exact=True).click()
    expect(page.get_by_text("scale 1, mask causal")).to_be_visible()
    wait_idle(page)
    assert parse_qs(urlsplit(page.url).query)["mask"] == ["causal"]
    assert parse_qs(urlsplit(page.url).query)["scale"] == ["false"]


def test_typed_html_creates_no_element(visit: Callable[..., Page]) -> None:
    text = '<img src=x onerror="document.title=1"><b>x</b> $5 and $6'
    page = visit(f"/step_by_step?text={quote(text)}&panel=inputs&row=0&col=0&tab=code")
    assert page.get_by_test_id("stMain").locator("img, b, script").count() == 0
    assert page.get_by_test_id("stBottom").locator("img, b, script").count() == 0
    assert page.title() == "Step by step · attnviz"


@pytest.mark.parametrize("tab", ["scaling", "dictionary", "code"])
def test_nothing_is_wider_than_a_phone(visit: Callable[..., Page], page: Page, tab: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    visit(f"/step_by_step?tab={quote(tab)}")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    main = page.get_by_test_id("stMain").bounding_box()
    pinned = page.get_by_test_id("stBottom").bounding_box()
    assert main is not None
    assert pinned is not None
    assert pinned["height"] < main["height"] / 3


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

"""The heads page in a browser: the slider regroups heads, the grid chooses one, a phone."""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import parse_qs, quote, urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.browser.chromium import wait_idle

pytestmark = [pytest.mark.browser, pytest.mark.models]


def test_the_slider_regroups_the_heads(visit: Callable[..., Page]) -> None:
    page = visit("/heads")
    figure = page.get_by_role("figure").first
    expect(figure).to_have_attribute("aria-label", re.compile("share 2 key/value heads, 4 to each"))
    page.get_by_role("slider").first.press("ArrowRight")
    expect(figure).to_have_attribute("aria-label", re.compile("share 4 key/value heads, 2 to each"))
    wait_idle(page)
    assert parse_qs(urlsplit(page.url).query)["kv"] == ["4"]


def test_a_head_chosen_in_the_grid_is_told_by_its_key_value_head(
    visit: Callable[..., Page],
) -> None:
    page = visit("/heads?kv=4")
    page.get_by_role("grid", name=re.compile("All heads")).focus()
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page.get_by_text(re.compile("Query head 5 reads key/value head 2"))).to_be_visible()
    wait_idle(page)
    assert parse_qs(urlsplit(page.url).query)["head"] == ["5"]
    again = visit(f"/heads?{urlsplit(page.url).query}")
    expect(again.get_by_text(re.compile("Query head 5 reads key/value head 2"))).to_be_visible()


@pytest.mark.parametrize("tab", ["costs", "alike"])
def test_nothing_is_wider_than_a_phone(visit: Callable[..., Page], page: Page, tab: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    visit(f"/heads?heads=16&kv=16&tab={quote(tab)}")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390

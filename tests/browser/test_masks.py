"""The masks page in a browser: choosing, sharing by link, a phone, hostile text."""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import quote, urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.browser.chromium import wait_idle
from tests.browser.waiting import fits, says

pytestmark = [pytest.mark.browser, pytest.mark.models]


def figure(page: Page):
    return page.get_by_role("figure").first


def test_choosing_a_mask_redraws_the_figure_and_lands_in_the_link(
    visit: Callable[..., Page],
) -> None:
    page = visit("/masks")
    expect(figure(page)).to_have_attribute(
        "aria-label", re.compile("for the mask causal on 9 queries")
    )
    page.get_by_role("button", name="sliding window").click()
    expect(figure(page)).to_have_attribute("aria-label", re.compile("causal and sliding window 3"))
    expect(page.get_by_text("57 of 81 pairs are hidden")).to_be_visible()
    says(page, mask="causal,window")
    again = visit(f"/masks?{urlsplit(page.url).query}")
    expect(again.get_by_text("57 of 81 pairs are hidden")).to_be_visible()


def test_a_row_pointed_at_is_the_query_that_loses_its_keys(visit: Callable[..., Page]) -> None:
    page = visit("/masks?row=3&col=1&panel=weights&tab=empty")
    expect(page.get_by_text("All keys hidden from query 3")).to_be_visible()


def test_typed_html_creates_no_element(visit: Callable[..., Page]) -> None:
    text = '<img src=x onerror="document.title=1"><b>x</b> $5 and $6'
    page = visit(f"/masks?text={quote(text)}&tab=code")  # whose sections write no formula
    main = page.get_by_test_id("stMain")
    expect(page).to_have_title("Masks · attnviz")
    assert main.locator("img, b, script").count() == 0
    assert main.locator(".katex").count() == 0
    assert page.title() == "Masks · attnviz"  # nothing has changed it


@pytest.mark.parametrize("tab", ["seen", "conventions", "empty"])
def test_nothing_is_wider_than_a_phone(visit: Callable[..., Page], page: Page, tab: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    visit(f"/masks?tab={quote(tab)}")
    fits(page, 390)


def test_the_text_goes_along_to_another_page_and_back(visit: Callable[..., Page]) -> None:
    page = visit("/masks?text=one%20two%20three&mask=causal,window")
    for title, shown in (("Heads", "Query head 0"), ("Step by step", "scores"), ("Masks", "of 9")):
        page.get_by_test_id("stSidebarNavLink").filter(has_text=title).click()
        expect(page).to_have_title(f"{title} · attnviz")
        expect(page.get_by_text(shown).first).to_be_attached()
        says(page, text="one two three")
        wait_idle(page)
        assert page.get_by_text("This could not be done").count() == 0


def test_what_was_chosen_and_folded_away_is_kept(visit: Callable[..., Page]) -> None:
    page = visit("/masks?mask=window")
    more = page.get_by_role("button", name="Text and sizes")

    def change_something(invert: str | None) -> None:
        page.get_by_test_id("stCheckbox").filter(has_text="Invert").locator("input").press("Space")
        says(page, window="5", **{"not": invert})
        wait_idle(page)

    more.click()
    window = page.get_by_label("Window (keys, its own included)")
    window.fill("5")
    window.press("Enter")
    page.wait_for_url("**window=5**")
    page.keyboard.press("Escape")
    expect(window).to_have_count(0)
    for invert in ("true", None):
        change_something(invert)
    more.click()
    expect(window).to_have_value("5")
    change_something("true")
    says(page, window="5")

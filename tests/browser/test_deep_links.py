"""The very first request that a fresh server gets may be for any page's own address."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from attnviz.ui.pages import PAGES
from tests.browser.chromium import until
from tests.browser.server import Server

pytestmark = pytest.mark.browser

TITLES = [entry.title for entry in PAGES]


SELECTED = '[data-testid="stSidebarNavLink"][aria-current="page"]'


def navigation(page: Page) -> list[str]:
    links = page.get_by_test_id("stSidebarNavLink").all_inner_texts()
    return [text.strip().splitlines()[-1] for text in links]


@pytest.mark.parametrize("entry", PAGES, ids=lambda entry: entry.word)
def test_a_cold_deep_link_runs_through_the_shell(entry, page: Page) -> None:
    with Server() as fresh:
        page.goto(f"{fresh.url}/{entry.word}")
        page.locator("h1").wait_for()  # the title comes before anything heavy
        expect(page).to_have_title(f"{entry.title} · attnviz")  # set by the shell alone
        until(page, lambda: navigation(page), TITLES)
        expect(page.locator(SELECTED)).to_contain_text(entry.title)
        assert urlsplit(page.url).path in (f"/{entry.word}", "/" if entry.word == "home" else "")
        expect(page.locator("h1")).to_have_count(1)


def test_an_unknown_address_shows_home_with_a_notice(visit: Callable[..., Page]) -> None:
    with Server() as fresh:
        page = visit("/no_such_page", base=fresh.url)
        expect(page).to_have_title("Home · attnviz")
        expect(page.get_by_role("dialog")).to_contain_text("does not seem to exist")
        page.keyboard.press("Escape")
        until(page, lambda: navigation(page), TITLES)

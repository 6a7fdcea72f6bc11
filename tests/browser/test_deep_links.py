"""The very first request that a fresh server gets may be for any page's own address."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page

from attnviz.ui.pages import PAGES
from tests.browser.server import Server

pytestmark = pytest.mark.browser

TITLES = [entry.title for entry in PAGES]


def navigation(page: Page) -> list[str]:
    return page.get_by_test_id("stSidebarNavLink").all_inner_texts()


def selected(page: Page) -> str:
    return page.locator('[data-testid="stSidebarNavLink"][aria-current="page"]').inner_text()


@pytest.mark.parametrize("entry", PAGES, ids=lambda entry: entry.word)
def test_a_cold_deep_link_runs_through_the_shell(entry, page: Page) -> None:
    with Server() as fresh:
        page.goto(f"{fresh.url}/{entry.word}")
        page.locator("h1").wait_for()  # the title comes before anything heavy
        page.get_by_test_id("stSidebarNavLink").nth(len(PAGES) - 1).wait_for()
        assert page.title() == f"{entry.title} · attnviz"  # set by the shell alone
        assert [text.strip().splitlines()[-1] for text in navigation(page)] == TITLES
        assert entry.title in selected(page)
        assert urlsplit(page.url).path in (f"/{entry.word}", "/" if entry.word == "home" else "")
        assert page.locator("h1").count() == 1


def test_an_unknown_address_shows_home_with_a_notice(visit: Callable[..., Page]) -> None:
    with Server() as fresh:
        page = visit("/no_such_page", base=fresh.url)
        assert page.title() == "Home · attnviz"
        assert "does not seem to exist" in page.get_by_role("dialog").inner_text()
        page.keyboard.press("Escape")
        assert [text.strip().splitlines()[-1] for text in navigation(page)] == TITLES

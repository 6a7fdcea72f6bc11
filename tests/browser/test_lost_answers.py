"""A run of the page that breaks off another takes no answer and no file from the reader."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page

from tests.browser.explorer_page import Explorer

pytestmark = pytest.mark.browser

RUN_AGAIN = "[...document.querySelectorAll('button')].find(b => b.innerText.includes('Run again'))"


def test_a_file_asked_for_right_after_a_head_comes(
    opened: Callable[[str], Explorer], page: Page
) -> None:
    explorer = opened("model")
    page.locator("[data-panel='head'] .menu summary").click()
    with page.expect_download() as download:
        explorer.ask(
            "(explorer.select({layer: 4, head: 7}),"
            " explorer.root.querySelector(\"[data-panel='head'] [data-export='html']\").click())"
        )
    assert download.value.suggested_filename == "model-layer4-head7.html"


def test_a_file_comes_though_the_page_runs_again(
    opened: Callable[[str], Explorer], page: Page
) -> None:
    explorer = opened("model")
    page.locator("[data-panel='head'] .menu summary").click()
    with page.expect_download() as download:
        explorer.ask(
            "(explorer.root.querySelector(\"[data-panel='head'] [data-export='html']\").click(),"
            f" [1, 60, 120, 180].map(ms => setTimeout(() => {RUN_AGAIN}.click(), ms)))"
        )
    assert download.value.path().read_bytes().startswith(b"<!doctype html>")


def test_a_head_comes_though_the_page_runs_again(
    opened: Callable[[str], Explorer], page: Page
) -> None:
    explorer = opened("deep")
    toggle = "document.querySelector('[data-testid=stCheckbox] input')"
    for head in (1, 2, 0):
        explorer.ask(
            f"(explorer.select({{layer: 1, head: {head}}}),"
            f" [1, 20, 40, 60, 80].map(ms => setTimeout(() => {toggle}.click(), ms)))"
        )
        explorer.until(f"explorer.depot.known(1, {head}) !== null", True)

"""Reading a page that is still at it: a busy machine draws seconds later than a quiet one."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Page

from tests.browser.chromium import PATIENCE, until

Value = TypeVar("Value")


def when(page: Page, read: Callable[[], Value], holds: Callable[[Value], object]) -> Value:
    """Read again and again until what is read holds, and return it."""
    end = time.monotonic() + PATIENCE
    while not holds(now := read()):
        assert time.monotonic() < end, f"after {PATIENCE:.0f} s it is still {now!r}"
        page.wait_for_timeout(20)
    return now


def says(page: Page, **words: str | None) -> None:
    """Wait until the address has each of these words with this value; None: has not that word."""

    def said() -> dict[str, str | None]:
        query = parse_qs(urlsplit(page.url).query)
        return {word: query.get(word, [None])[0] for word in words}

    until(page, said, words)


def rest(page: Page, milliseconds: int) -> None:
    """Let this time pass in the page itself, after what it had in hand: its own shorter timers,
    set before, have run by then, however slow the machine is."""
    page.evaluate("(rest) => new Promise((done) => setTimeout(done, rest))", milliseconds)


def still(page: Page, read: Callable[[], object]) -> None:
    """Wait until what is read no longer changes: a page scrolls by and by."""
    before = None
    while before != (before := read()):
        rest(page, 100)


def fits(page: Page, width: int) -> None:
    """Wait until the page is no wider than that."""
    when(
        page,
        lambda: page.evaluate("document.documentElement.scrollWidth"),
        lambda wide: wide <= width,
    )

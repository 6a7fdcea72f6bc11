"""From nothing running to Home on the screen, and what that does not load."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.server import Server

pytestmark = [pytest.mark.browser, pytest.mark.alone]


def seconds_to_first_paint(browser: Browser) -> float:
    """Wall time from starting the server's process to Home's title and figure being visible."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    begin = time.monotonic()
    with Server() as fresh:
        page.goto(fresh.url, wait_until="commit")
        page.locator("h1").wait_for()
        page.locator("canvas:visible").first.wait_for()
        taken = time.monotonic() - begin
    context.close()
    return taken


def test_home_is_painted_within_four_seconds_of_the_start(browser: Browser) -> None:
    # Four seconds of a machine that has nothing else to do; where others wait for its cores too,
    # each of them adds its share. The best of six counts.
    crowd = os.getloadavg()[0] / (os.cpu_count() or 1)
    limit = 4.0 * max(1.0, crowd)
    times: list[float] = []
    while len(times) < 6 and min(times, default=limit + 1) > limit:
        times.append(seconds_to_first_paint(browser))
    print(f"start to first paint of Home: {', '.join(f'{t:.2f}' for t in times)} s")
    assert min(times) <= limit, (times, limit)


def test_opening_home_loads_neither_torch_nor_transformers(visit: Callable[..., Page]) -> None:
    with Server() as fresh:
        visit("/", base=fresh.url)
        libraries = fresh.mapped_libraries()
    assert any(name.startswith("libpython") or "python" in name for name in libraries)
    heavy = {n for n in libraries if n.startswith("libtorch") or n.startswith("tokenizers")}
    assert not heavy, heavy

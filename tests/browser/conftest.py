"""One server and one Chromium for the session; an emptied, watched page for each test."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.browser.chromium import PATIENCE, launch, wait_idle
from tests.browser.explorer_page import Explorer
from tests.browser.server import ROOT, Server
from tests.browser.tab import Tab

FAILURES = ROOT / "screenshots" / "failures"
expect.set_options(timeout=PATIENCE * 1000)
LARGEST_MESSAGE = 4 * 2**20
"""Bytes that a page may send at once: a sixteenth of what the server is set to let through."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]):
    report = yield
    if report.when == "call":
        item.stash[_FAILED] = report.failed
    return report


_FAILED = pytest.StashKey[bool]()


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """Serves all tests that do not start one of their own. It may reach nothing but them."""
    with Server() as running:
        yield running
        assert running.outward_attempts() == []


@pytest.fixture(scope="session")
def server_url(server: Server) -> str:
    """Address of the session's server, without a slash at its end."""
    return server.url


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """Of a server of explorer_app.py, for the tests that look at one figure alone."""
    with Server(script="tests/browser/explorer_app.py") as running:
        yield running.url


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = launch(playwright)
        yield browser
        browser.close()


@pytest.fixture
def console_errors() -> list[str]:
    """Filled by `page` with what the browser's console reports as an error."""
    return []


@pytest.fixture(scope="session")
def shared_tab(browser: Browser) -> Iterator[Tab]:
    tab = Tab(browser)
    yield tab
    tab.close()


@pytest.fixture
def messages() -> list[int]:
    """Filled by `page` with the bytes of each message that a server sends."""
    return []


@pytest.fixture
def page(
    request: pytest.FixtureRequest,
    shared_tab: Tab,
    server_url: str,
    console_errors: list[str],
    messages: list[int],
) -> Iterator[Page]:
    """A page of 1440 x 900 that remembers nothing of another test.

    The tab is that of the tests before, emptied, which loads a page in two thirds of a new one's
    time; a test that leaves behind what cannot be taken back is marked new_tab, and the one
    after a failure gets a new one too.

    Fails the test on a request to another origin, a blocked one included, on a violated
    content security policy and on an uncaught JavaScript error; keeps a screenshot of a failure.
    """
    page = shared_tab.open()
    left_origin: list[str] = []
    crashes: list[str] = []

    def watch(url: str) -> None:
        parts = urlsplit(url)
        # Any port: a test may start a server of its own.
        if parts.scheme in ("http", "https", "ws", "wss") and parts.hostname != "127.0.0.1":
            left_origin.append(url)

    def weigh(message: str | bytes) -> None:
        messages.append(len(message))

    watchers: list[tuple[str, Callable[..., object]]] = [
        ("request", lambda sent: watch(sent.url)),
        ("websocket", lambda socket: watch(socket.url)),
        ("websocket", lambda socket: socket.on("framereceived", weigh)),
        ("pageerror", lambda error: crashes.append(str(error))),
        ("console", lambda line: line.type == "error" and console_errors.append(line.text)),
    ]
    for event, watcher in watchers:
        (page.context if event == "request" else page).on(event, watcher)
    yield page
    failed = request.node.stash.get(_FAILED, False)
    if failed:
        FAILURES.mkdir(parents=True, exist_ok=True)
        name = re.sub(r"[^\w.-]+", "_", request.node.nodeid)[-120:]
        page.screenshot(path=FAILURES / f"{name}.png")
    for event, watcher in watchers:
        (page.context if event == "request" else page).remove_listener(event, watcher)
    if failed or request.node.get_closest_marker("new_tab"):
        shared_tab.close()
    else:
        shared_tab.empty(server_url)
    refused = [line for line in console_errors if "Content Security Policy" in line]
    assert not left_origin, f"requests left the origin: {left_origin}"
    assert not refused, f"the content security policy refused: {refused}"
    assert not crashes, f"uncaught JavaScript errors: {crashes}"


@pytest.fixture
def visit(page: Page, server_url: str, messages: list[int]) -> Iterator[Callable[..., Page]]:
    """visit("/masks?window=4") opens that address, waits until Streamlit is idle, and fails if the
    page's script raised. Another server's address goes in `base`.

    Fails the test, at its end, on a message that is too large.
    """

    def open_path(path: str = "/", timeout: float = PATIENCE, base: str = server_url) -> Page:
        page.goto(base + path)
        wait_idle(page, timeout)
        raised = page.get_by_test_id("stException").all_inner_texts()
        assert not raised, raised
        return page

    yield open_path
    assert max(messages, default=0) <= LARGEST_MESSAGE, f"a message of {max(messages):,} bytes"


@pytest.fixture
def opened(page: Page, address: str) -> Callable[[str], Explorer]:
    """opened("head") shows that case of explorer_app.py."""

    def open_case(case: str) -> Explorer:
        page.goto(f"{address}/?case={case}")
        page.locator(".explorer[data-generation]").wait_for()
        wait_idle(page)
        page.evaluate("() => document.fonts.ready")
        return Explorer(page)

    return open_case

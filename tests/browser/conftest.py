"""One server and one Chromium for the session; a fresh, watched page for each test."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser.chromium import launch, wait_idle
from tests.browser.server import ROOT, Server

FAILURES = ROOT / "screenshots" / "failures"


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
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = launch(playwright)
        yield browser
        browser.close()


@pytest.fixture
def console_errors() -> list[str]:
    """Filled by `page` with what the browser's console reports as an error."""
    return []


@pytest.fixture
def page(
    request: pytest.FixtureRequest, browser: Browser, console_errors: list[str]
) -> Iterator[Page]:
    """A page of 1440 x 900 in a context of its own.

    Fails the test on a request to another origin, a blocked one included, on a violated
    content security policy and on an uncaught JavaScript error; keeps a screenshot of a failure.
    """
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    left_origin: list[str] = []
    crashes: list[str] = []

    def watch(url: str) -> None:
        parts = urlsplit(url)
        # Any port: a test may start a server of its own.
        if parts.scheme in ("http", "https", "ws", "wss") and parts.hostname != "127.0.0.1":
            left_origin.append(url)

    context.on("request", lambda sent: watch(sent.url))
    page.on("websocket", lambda socket: watch(socket.url))
    page.on("pageerror", lambda error: crashes.append(str(error)))
    page.on("console", lambda line: line.type == "error" and console_errors.append(line.text))
    yield page
    if request.node.stash.get(_FAILED, False):
        FAILURES.mkdir(parents=True, exist_ok=True)
        name = re.sub(r"[^\w.-]+", "_", request.node.nodeid)[-120:]
        page.screenshot(path=FAILURES / f"{name}.png")
    context.close()
    refused = [line for line in console_errors if "Content Security Policy" in line]
    assert not left_origin, f"requests left the origin: {left_origin}"
    assert not refused, f"the content security policy refused: {refused}"
    assert not crashes, f"uncaught JavaScript errors: {crashes}"


@pytest.fixture
def visit(page: Page, server_url: str) -> Callable[..., Page]:
    """visit("/masks?window=4") opens that address, waits until Streamlit is idle, and fails if the
    page's script raised. Another server's address goes in `base`."""

    def open_path(path: str = "/", timeout: float = 60, base: str = server_url) -> Page:
        page.goto(base + path)
        wait_idle(page, timeout)
        raised = page.get_by_test_id("stException").all_inner_texts()
        assert not raised, raised
        return page

    return open_path

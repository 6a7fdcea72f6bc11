"""With no network at all, a typed sentence still becomes the map of a real model.

The server's process is refused every connection that leaves the machine, and so is the browser
(no name resolves in it; the `page` fixture fails on any request to another origin). What every
other page tries is looked at when the session's server ends (conftest.py).
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.chromium import wait_idle
from tests.browser.server import Server
from tests.browser.waiting import says

pytestmark = [pytest.mark.browser, pytest.mark.models]

LOGGED = re.compile(r"You can now view|URL: http|Uvicorn|Started|Waiting for application")
SENTENCE = "A robin built her nest beside the old gate"


def test_a_typed_sentence_is_inspected_without_a_network(visit: Callable[..., Page]) -> None:
    with Server() as fresh:
        page = visit("/inspect_model", base=fresh.url, timeout=180)
        box = page.get_by_test_id("stTextArea").locator("textarea").first
        box.fill(SENTENCE)
        box.press("Control+Enter")
        page.wait_for_url("**/inspect_model?*text=*")
        wait_idle(page, timeout=120)
        assert page.get_by_test_id("stException").count() == 0
        says(page, text=SENTENCE)
        # The figure holds one map of exactly this sentence's tokens.
        expect(page.locator("canvas:visible").nth(1)).to_be_visible()
        expect(page.locator(".explorer")).to_contain_text("softmax weights")
        assert fresh.outward_attempts() == []
        # Its log is the address and no more: watching torch's files would flood it.
        lines = [line.strip() for line in fresh.log().splitlines() if line.strip()]
        assert [line for line in lines if not LOGGED.search(line)] == []


def test_the_guard_itself_sees_an_attempt() -> None:
    guard = Path(__file__).parent / "no_network"
    with tempfile.NamedTemporaryFile() as log:
        code = "import urllib.request as u; u.urlopen('http://example.invalid', timeout=2)"
        environment = os.environ | {"PYTHONPATH": str(guard), "NO_NETWORK_LOG": log.name}
        subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True)
        assert Path(log.name).read_text() == "socket.getaddrinfo example.invalid\n"

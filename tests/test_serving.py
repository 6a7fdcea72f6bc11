"""app.py is served by `streamlit run` and by any ASGI server alike, with our headers."""

from __future__ import annotations

import subprocess
import sys
import time
import urllib.error
import urllib.request
from http.client import HTTPMessage

import pytest

from attnviz.ui.headers import content_security_policy
from tests.browser.server import ROOT, Server, free_port


def headers_of(url: str) -> HTTPMessage:
    with urllib.request.urlopen(url, timeout=5) as answer:
        assert answer.status == 200
        return answer.headers


def check(url: str) -> None:
    for path in ("/", "/masks", "/_stcore/health", "/favicon.png"):
        headers = headers_of(url + path)
        assert headers["content-security-policy"] == content_security_policy(), path
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"


def test_streamlit_run_serves_the_app_with_headers() -> None:
    with Server() as server:
        check(server.url)


def test_uvicorn_serves_the_app_with_headers() -> None:
    port = free_port()
    command = [sys.executable, "-m", "uvicorn", "app:app", "--port", str(port)]
    process = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        for _ in range(600):
            try:
                check(f"http://127.0.0.1:{port}")
                return
            except urllib.error.URLError:
                assert process.poll() is None
                time.sleep(0.05)
        pytest.fail("uvicorn did not answer")
    finally:
        process.terminate()
        process.wait(timeout=10)

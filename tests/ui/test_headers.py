"""The security headers: on every HTTP answer, replacing what the app says, never twice."""

from __future__ import annotations

import asyncio
import base64
import hashlib
from typing import Any

from attnviz.ui.headers import SecurityHeaders, content_security_policy


def answer(scope_type: str, headers: list[tuple[bytes, bytes]]) -> list[dict[str, Any]]:
    """The messages that leave the middleware round an app which answers with these headers."""
    sent: list[dict[str, Any]] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"x"})

    async def receive() -> dict[str, Any]:
        return {"type": "http.request"}

    async def send(message: Any) -> None:
        sent.append(dict(message))

    asyncio.run(SecurityHeaders(app)({"type": scope_type}, receive, send))
    return sent


def test_every_http_answer_carries_each_header_once() -> None:
    start, body = answer("http", [(b"X-Content-Type-Options", b"off"), (b"etag", b"1")])
    names = [name.lower() for name, _ in start["headers"]]
    assert len(names) == len(set(names))
    headers = {name.lower(): value for name, value in start["headers"]}
    assert headers[b"x-content-type-options"] == b"nosniff"
    assert headers[b"referrer-policy"] == b"no-referrer"
    assert headers[b"content-security-policy"] == content_security_policy().encode()
    assert headers[b"etag"] == b"1"
    assert body == {"type": "http.response.body", "body": b"x"}


def test_a_websocket_passes_untouched() -> None:
    start, _ = answer("websocket", [(b"a", b"b")])
    assert start["headers"] == [(b"a", b"b")]


def test_the_policy_lets_no_foreign_or_evaluated_script_in() -> None:
    rules = dict(rule.split(" ", 1) for rule in content_security_policy().split("; "))
    assert rules["default-src"] == "'none'"
    assert rules["frame-ancestors"] == "'self'"
    assert rules["connect-src"] == "'self'"
    inline = b"\n      window.prerenderReady = false\n    "  # the one in Streamlit's index.html
    digest = base64.b64encode(hashlib.sha256(inline).digest()).decode()
    assert rules["script-src"] == f"'self' blob: 'sha256-{digest}'"

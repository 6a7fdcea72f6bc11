"""What a browser is told not to do with our pages: a small ASGI middleware.

The policy is the tightest that Streamlit's front end runs under. Scripts come from this origin
alone, but for the one inline script that Streamlit's page starts with, allowed by its hash, and
for a component's first line, which Streamlit imports from a blob: address (only a script that
already runs can make one, so markup that slipped in still cannot).
Styles may be inline, since CSS-in-JS writes them at run time; images may be data: and blob:,
and KaTeX brings a font as data:.
"""

from __future__ import annotations

import base64
import hashlib
import re
from functools import lru_cache
from pathlib import Path

import streamlit
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_INLINE_SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)


def _inline_script_hashes() -> list[str]:
    page = Path(streamlit.__file__).with_name("static") / "index.html"
    scripts = _INLINE_SCRIPT.findall(page.read_text(encoding="utf-8"))
    digests = [hashlib.sha256(script.encode()).digest() for script in scripts]
    return [f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests]


@lru_cache(maxsize=1)
def content_security_policy() -> str:
    """The policy of every page, as the header's value."""
    rules = {
        "default-src": ["'none'"],
        "script-src": ["'self'", "blob:", *_inline_script_hashes()],
        "style-src": ["'self'", "'unsafe-inline'"],
        "img-src": ["'self'", "data:", "blob:"],
        "font-src": ["'self'", "data:"],
        "connect-src": ["'self'"],
        "base-uri": ["'self'"],
        "form-action": ["'self'"],
        "frame-ancestors": ["'self'"],
    }
    return "; ".join(" ".join([name, *sources]) for name, sources in rules.items())


class SecurityHeaders:
    """Adds the headers to every HTTP answer; the WebSocket passes untouched."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._headers = [
            (b"content-security-policy", content_security_policy().encode()),
            (b"x-content-type-options", b"nosniff"),
            (b"referrer-policy", b"no-referrer"),
            (b"permissions-policy", b"camera=(), geolocation=(), microphone=(), payment=()"),
        ]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                ours = {name for name, _ in self._headers}
                kept = [pair for pair in message.get("headers", ()) if pair[0].lower() not in ours]
                message = {**message, "headers": [*kept, *self._headers]}
            await send(message)

        await self.app(scope, receive, with_headers)

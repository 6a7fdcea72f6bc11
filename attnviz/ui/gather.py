"""Send what one short run of a page draws as one burst: a small ASGI middleware.

Streamlit sends each element as soon as the script has made it, and the browser lays out and
paints the page for every batch that happens to arrive together, three to five times a run. Held
back until the run is over, all of it is one change of the page. A run that takes longer than
LONGEST is not held back further: its progress shows as it comes.
"""

from __future__ import annotations

import asyncio

from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

LONGEST = 0.06
"""Seconds that the first message of a run waits at most."""

_TAIL = 0.001
"""Seconds after the end of a run within which its last word, the session's status, comes."""


class Gather:
    """Holds each session's messages from the start of a run to its end, or LONGEST."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            send = _Burst(send)
        await self.app(scope, receive, send)


class _Burst:
    """The sending end of one connection."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._held: list[Message] = []
        self._timer: asyncio.Task[None] | None = None
        self._order = asyncio.Lock()

    async def __call__(self, message: Message) -> None:
        kind = _kind(message)
        if kind is None:  # accepting, closing
            await self._release()
            await self._send(message)
            return
        if self._timer is None and kind != "new_session":
            async with self._order:
                await self._send(message)
            return
        self._held.append(message)
        if kind == "new_session":
            self._release_after(LONGEST)
        elif kind == "script_finished":
            self._release_after(_TAIL)

    def _release_after(self, seconds: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.create_task(self._wait(seconds))

    async def _wait(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
        self._timer = None
        await self._release()

    async def _release(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        async with self._order:
            while self._held:
                await self._send(self._held.pop(0))


def _kind(message: Message) -> str | None:
    """What Streamlit's message is about; None for what is not one."""
    data = message.get("bytes")
    if message["type"] != "websocket.send" or not data:
        return None
    return ForwardMsg.FromString(data).WhichOneof("type")

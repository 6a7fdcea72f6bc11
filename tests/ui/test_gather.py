"""What one run sends goes out together, in order, and never late when the run is long."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from starlette.types import Message
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from attnviz.ui import gather

Script = Callable[[Callable[[Message], Awaitable[None]]], Awaitable[None]]


def message(kind: str) -> Message:
    made = ForwardMsg()
    if kind == "new_session":
        made.new_session.name = "attnviz"
    elif kind == "script_finished":
        made.script_finished = ForwardMsg.FINISHED_SUCCESSFULLY
    elif kind == "session_status_changed":
        made.session_status_changed.script_is_running = False
    else:
        made.delta.new_element.text.body = kind
    return {"type": "websocket.send", "bytes": made.SerializeToString()}


def name(sent: Message) -> str:
    if sent["type"] != "websocket.send":
        return sent["type"]
    made = ForwardMsg.FromString(sent["bytes"])
    kind = made.WhichOneof("type")
    return made.delta.new_element.text.body if kind == "delta" else str(kind)


def sent_by(script: Script) -> list[tuple[str, int]]:
    """What reached the browser, each with how many steps the script had taken by then."""
    arrived: list[tuple[str, int]] = []
    steps = 0

    async def send(given: Message) -> None:
        arrived.append((name(given), steps))

    async def app(
        scope: object, receive: object, send: Callable[[Message], Awaitable[None]]
    ) -> None:
        async def counted(given: Message) -> None:
            nonlocal steps
            steps += 1
            await send(given)

        await script(counted)
        await asyncio.sleep(0.02)

    async def receive() -> Message:
        return {"type": "websocket.receive"}

    asyncio.run(gather.Gather(app)({"type": "websocket"}, receive, send))
    return arrived


RUN = ("new_session", "first", "second", "script_finished", "session_status_changed")


def test_a_short_run_goes_out_in_one_piece_in_order() -> None:
    async def script(send: Callable[[Message], Awaitable[None]]) -> None:
        for word in RUN:
            await send(message(word))

    assert sent_by(script) == [(word, len(RUN)) for word in RUN]


def test_a_long_run_shows_its_progress() -> None:
    async def script(send: Callable[[Message], Awaitable[None]]) -> None:
        await send(message("new_session"))
        await send(message("first"))
        await asyncio.sleep(gather.LONGEST * 2)
        await send(message("second"))

    assert sent_by(script) == [("new_session", 2), ("first", 2), ("second", 3)]


def test_what_belongs_to_no_run_and_the_end_of_the_connection_wait_for_nothing() -> None:
    async def script(send: Callable[[Message], Awaitable[None]]) -> None:
        await send({"type": "websocket.accept"})
        await send(message("by itself"))
        await send(message("new_session"))
        await send({"type": "websocket.close"})

    assert sent_by(script) == [
        ("websocket.accept", 1),
        ("by itself", 2),
        ("new_session", 4),
        ("websocket.close", 4),
    ]


def test_a_run_cut_short_by_the_next_keeps_its_order() -> None:
    async def script(send: Callable[[Message], Awaitable[None]]) -> None:
        for word in ("new_session", "first", "script_finished", *RUN):
            await send(message(word))

    words = [word for word, _ in sent_by(script)]
    assert words == ["new_session", "first", "script_finished", *RUN]


def test_other_traffic_passes_untouched() -> None:
    async def app(
        scope: object, receive: object, send: Callable[[Message], Awaitable[None]]
    ) -> None:
        await send({"type": "http.response.start", "status": 200})

    arrived: list[Message] = []

    async def send(given: Message) -> None:
        arrived.append(given)

    async def receive() -> Message:
        return {"type": "http.request"}

    asyncio.run(gather.Gather(app)({"type": "http"}, receive, send))
    assert arrived == [{"type": "http.response.start", "status": 200}]

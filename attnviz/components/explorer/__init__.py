"""The explorer: every map of attnviz, drawn in the browser from one binary buffer.

Selecting, hovering, scaling and exporting happen there, without the server. What the reader
points at comes back as a Selection.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import streamlit as st
from streamlit.components.v2 import component

from attnviz.components.explorer.payload import take_apart
from attnviz.components.explorer.selection import Memory, read, settle, within
from attnviz.figures.figure import Figure, Selection

__all__ = ["explorer", "payload"]


@functools.cache
def _component() -> Callable[..., Any]:
    """Registered once, when first drawn: outside a server there is nothing to register with."""
    return component(
        "attnviz.explorer", html='<div class="explorer"></div>', js="main.js", css="explorer.css"
    )


def explorer(
    figure: Figure,
    *,
    key: str,
    selection: Selection | None = None,
    height: int | None = None,
) -> Selection:
    """Draw the figure and return what the reader has selected.

    selection, whenever it changes to something the explorer did not itself report, is what the
    picture shows next. height, in CSS pixels, makes the picture scroll in its own box; without
    it the page grows with it.
    """
    data, current = payload(figure, key=key, selection=selection)
    _component()(
        key=key,
        data=data,
        height="content" if height is None else height,
        on_selection_change=lambda: None,
    )
    return current


def payload(
    figure: Figure, *, key: str, selection: Selection | None = None
) -> tuple[bytes, Selection]:
    """The bytes this run sends, and the selection it returns.

    The selection travels inside the bytes, but a reader's click must not send the figure back:
    so the bytes keep the selection they had until the figure changes or the script sets another.
    """
    state = st.session_state.get(key)
    reported = read(state)
    memory: Memory = st.session_state.setdefault(f"{key}:memory", Memory())
    if state is None:  # first run, or back from another page: the browser starts afresh
        memory.argument = memory.packed = None
    current, pushed = settle(memory, selection, reported)
    current = within(current, figure)

    packed = take_apart(figure)
    if pushed:
        memory.push += 1
    if pushed or memory.packed is None or packed.digest != memory.figure:
        memory.packed = current
    memory.argument, memory.returned, memory.figure = selection, current, packed.digest
    return packed.joined(memory.packed, memory.push), current

"""The file that a reader asks the explorer's menu for: made in the run that the question starts."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import streamlit as st

from attnviz.components.explorer.sealed import standalone
from attnviz.components.explorer.selection import read, within
from attnviz.errors import AttnvizError
from attnviz.figures.figure import Figure, Selection
from attnviz.figures.numbers import whole_npz
from attnviz.figures.parts import Source

Kind = Literal["page", "map"]
"""page: the figure as one HTML file. map: all numbers of the open head, as an NPZ."""

BOX = "explorer-download"
STAYS = 20.0
"""Seconds that a large file can be fetched for."""


@dataclass(frozen=True)
class File:
    """A file on its way to the browser, and the number of the question that it answers."""

    number: int
    data: bytes
    kind: Kind = "page"
    refusal: str = ""  # why there is none

    @property
    def sent(self) -> bytes:
        """What goes along at the end of the message; a map is too large for one."""
        return self.data if self.kind == "page" else b""

    @property
    def said(self) -> dict[str, Any]:
        """What the header says of it."""
        length = len(self.sent)
        said = {"number": self.number, "length": length, "kind": self.kind, "refusal": self.refusal}
        return {"file": said}


def lay(key: str, file: File | None, stem: str) -> None:
    """Put a large file where the browser can fetch it by HTTP: a button that it presses.

    It stays for runs that follow at once, which would else take it away before it is pressed.
    """
    name = f"{key}:download"
    if file is not None and file.kind == "map" and not file.refusal:
        st.session_state[name] = (file.data, time.monotonic() + STAYS)
    data, until = st.session_state.get(name, (b"", 0.0))
    if time.monotonic() >= until:
        st.session_state.pop(name, None)
        return
    with st.container(key=BOX):
        st.download_button("Whole map", data, f"{stem}.npz", "application/zip", on_click="ignore")


def hear(key: str) -> None:
    """Keep the question for the run that it starts."""
    st.session_state[f"{key}:file"] = st.session_state[key].get("file")


def number_of(asked: Any) -> int | None:
    """The number of a question, or None where it has none. Anything may have been asked."""
    number = asked.get("number") if isinstance(asked, Mapping) else None
    return number if type(number) is int else None


def over(key: str) -> None:
    """The answer is sent. A run that is broken off before leaves it to the next, ready made."""
    st.session_state.pop(f"{key}:file", None)
    st.session_state.pop(f"{key}:file-made", None)


def made(key: str, figure: Figure, source: Source | None) -> File | None:
    """The file, where this run was started by a question for one. Anything may have been asked."""
    asked: Any = st.session_state.get(f"{key}:file")
    number = number_of(asked)
    if number is None:
        return None
    ready = st.session_state.get(f"{key}:file-made")
    if ready is None or ready.number != number:
        ready = st.session_state[f"{key}:file-made"] = _make(number, asked, figure, source)
    return ready


def _make(number: int, asked: Any, figure: Figure, source: Source | None) -> File:
    if asked.get("kind") != "map":
        page = standalone(figure, selection=read(asked), source=source)
        return File(number, page.encode(errors="replace"))
    if source is None or figure.grid is None:
        return File(number, b"", "map", "The server has no more of this map than the browser.")
    chosen = within(read(asked) or Selection(), figure)
    layer = figure.grid.layers[0] if chosen.layer is None else chosen.layer
    panel = figure.panels[0]
    try:
        data = whole_npz(source, layer, chosen.head or 0, panel, figure.settings)
    except AttnvizError as problem:
        return File(number, b"", "map", str(problem))
    return File(number, data, "map")

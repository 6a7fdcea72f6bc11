"""The file that a reader asks the explorer's menu for: made in the run that the question starts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st

from attnviz.components.explorer.sealed import standalone
from attnviz.components.explorer.selection import read
from attnviz.figures.figure import Figure
from attnviz.figures.parts import Source


@dataclass(frozen=True)
class File:
    """A file on its way to the browser, and the number of the question that it answers."""

    number: int
    data: bytes

    @property
    def said(self) -> dict[str, Any]:
        """What the header says of it: its bytes are the message's last."""
        return {"file": {"number": self.number, "length": len(self.data)}}


def hear(key: str) -> None:
    """Keep the question for the run that it starts."""
    st.session_state[f"{key}:file"] = st.session_state[key].get("file")


def made(key: str, figure: Figure, source: Source | None) -> File | None:
    """The file, where this run was started by a question for one. Anything may have been asked."""
    asked = st.session_state.pop(f"{key}:file", None)
    number = asked.get("number") if isinstance(asked, Mapping) else None
    if type(number) is not int:
        return None
    page = standalone(figure, selection=read(asked), source=source)
    return File(number, page.encode(errors="replace"))

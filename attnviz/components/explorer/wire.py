"""The wire between a mounted explorer and its page: parts of maps, asked for and sent.

A second mount of the component, without a picture. It stands in a fragment of its own, so that
an answer costs one small rerun and sends nothing but itself: the figure, in the first mount, is
neither packed nor sent again. Head and tile are named in each request, so an answer needs no
selection; that is why a reader who goes through heads need not tell Python at all. Where a page
is `quiet`, the browser writes layer and head into the address itself and reports them when the
page next runs for another reason, or as soon as the page is no longer quiet.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import streamlit as st

from attnviz.components.explorer.filing import number_of
from attnviz.components.explorer.mounting import mounted
from attnviz.components.explorer.payload import Arrays, buffer, part_entry
from attnviz.errors import AttnvizError
from attnviz.figures.figure import Selection
from attnviz.figures.parts import Source, request_of


def lay(key: str, source: Source, *, known: Selection, quiet: bool) -> None:
    """Mount the wire of the explorer `key`. known: the selection that Python has."""
    runs = st.session_state[f"{key}:runs"] = st.session_state.get(f"{key}:runs", 0) + 1
    note = {"wire": key, "run": runs, "known": asdict(known), "quiet": quiet}
    _answering(key, source, note)


@st.fragment
def _answering(key: str, source: Source, note: dict[str, Any]) -> None:
    name = f"{key}:wire"
    asked = st.session_state.get(f"{name}:asked")
    mounted()(
        key=name,
        data=note_bytes(note) if asked is None else answer(note, asked, source),
        height="content",
        on_ask_change=lambda: _hear(name),
    )
    # Broken off before this line, it is answered by the next run.
    st.session_state.pop(f"{name}:asked", None)


def _hear(name: str) -> None:
    st.session_state[f"{name}:asked"] = st.session_state[name].get("ask")


def note_bytes(note: dict[str, Any]) -> bytes:
    """What a run without a question sends."""
    return buffer(note | {"arrays": []}, [])


def answer(note: dict[str, Any], asked: Any, source: Source) -> bytes:
    """The part asked for, or the sentence of why not. Anything may have been asked."""
    request = request_of(asked)
    reply: dict[str, Any] = {"number": number_of(asked)}
    arrays = Arrays()
    if request is None:
        reply["refusal"] = "The request was not understood."
    else:
        try:
            reply |= part_entry(source(request), arrays)
        except AttnvizError as problem:
            reply["refusal"] = str(problem)
    return buffer(note | {"answer": reply, "arrays": arrays.entries}, arrays.chunks)

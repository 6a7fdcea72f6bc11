"""The explorer: every map of attnviz, drawn in the browser from one binary buffer.

Selecting, hovering, scaling and exporting happen there, without the server. What the reader
points at comes back as a Selection.
"""

from __future__ import annotations

import streamlit as st

from attnviz.components.explorer import filing, wire
from attnviz.components.explorer.mounting import mounted
from attnviz.components.explorer.payload import Packed, take_apart
from attnviz.components.explorer.sealed import standalone
from attnviz.components.explorer.selection import Memory, read, settle, within
from attnviz.figures.figure import Figure, Selection
from attnviz.figures.parts import Source

__all__ = ["explorer", "payload", "standalone"]


def explorer(
    figure: Figure,
    *,
    key: str,
    selection: Selection | None = None,
    height: int | None = None,
    source: Source | None = None,
    quiet: bool = False,
) -> Selection:
    """Draw the figure and return what the reader has selected.

    selection, whenever it changes to something the explorer did not itself report, is what the
    picture shows next. height, in CSS pixels, makes the picture scroll in its own box; without
    it the page grows with it. source answers what the browser asks of maps that the figure does
    not hold: other heads, exact parts of an overview. With it, quiet keeps the choice of a head
    to the browser, which writes it into the address and tells Python with the next run.
    """
    file = filing.made(key, figure, source)
    data, current = payload(figure, key=key, selection=selection, file=file)
    # The wire has no height, and leaves no gap. Without a key of its own the box, and the picture
    # in it, would be made anew whenever the page runs.
    with st.container(gap=None, key=f"attnviz-explorer-{key}"):
        mounted()(
            key=key,
            data=data,
            height="content" if height is None else height,
            on_selection_change=lambda: None,
            on_file_change=lambda: filing.hear(key),
        )
        filing.over(key)
        if source is not None:
            wire.lay(key, source, known=current, quiet=quiet)
            filing.lay(key, file, figure.file_stem)
    return current


def payload(
    figure: Figure, *, key: str, selection: Selection | None = None, file: filing.File | None = None
) -> tuple[bytes, Selection]:
    """The bytes this run sends, and the selection it returns.

    The selection travels inside the bytes, but a reader's click must not send the figure back:
    so the bytes keep the selection they had until the figure changes or the script sets another.
    file, where the reader asked for one, is their end.
    """
    state = st.session_state.get(key)
    reported = read(state)
    memory: Memory = st.session_state.setdefault(f"{key}:memory", Memory())
    if state is None:  # first run, or back from another page: the browser starts afresh
        memory.argument = memory.packed = None
    current, pushed = settle(memory, selection, reported)
    current = within(current, figure)
    # What the reader told, handed back with a word that this figure does not have (a head, where
    # there is one only), sets nothing: a reader who has gone on meanwhile would be thrown back.
    pushed = pushed and (reported is None or current != within(reported, figure))

    packed = _packed(figure, key)
    if pushed:
        memory.push += 1
    if pushed or memory.packed is None or packed.digest != memory.figure:
        memory.packed = current
    memory.argument, memory.returned, memory.figure = selection, current, packed.digest
    # Words that are of this mount: whether the address has its selection.
    more = {"linked": selection is not None} | (file.said if file else {})
    return packed.joined(memory.packed, memory.push, key, more) + (
        file.sent if file else b""
    ), current


def _packed(figure: Figure, key: str) -> Packed:
    """The figure taken apart; the same object, drawn again, was taken apart before."""
    known = st.session_state.get(f"{key}:packed")
    if known is None or known[0] is not figure:
        known = st.session_state[f"{key}:packed"] = (figure, take_apart(figure))
    return known[1]

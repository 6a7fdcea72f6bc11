"""The page's address: where every control keeps its value, as a short stable word.

Streamlit's own binding puts an option's label into the URL; ours puts the option, so that a link
outlives a change of wording. The address is read when a page is entered and when the reader goes
back or forward; in between the widgets lead and the address follows, since a rerun may carry an
address that is a moment old.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

Value = TypeVar("Value")

_KEPT = "_address"


@dataclass
class Visit:
    """The page being shown, which controls have read the address since it was entered, what the
    browser was told to make of it, and which controls it shows."""

    page: str | None = None
    by_history: bool = False
    heard: set[str] = field(default_factory=set)
    told: dict[str, str | None] = field(default_factory=dict)
    made: set[str] = field(default_factory=set)  # by this run, as far as it has come
    shown: set[str] | None = None  # by the last run that came to its end; None: there was none

    def end(self) -> None:
        """A run has shown all that it will: whatever else there was is gone from the browser."""
        self.shown = self.made


def _visit() -> Visit:
    return st.session_state.setdefault(_KEPT, Visit())


def begin(page: str) -> Visit:
    """Called by the shell at the start of each run, with the page's own path; it ends the visit's
    run, for which the session's state may no longer be asked once a page has stopped."""
    run = get_script_run_ctx()
    by_history = bool(run and run.is_history_navigation)
    if by_history or _visit().page != page:
        st.session_state[_KEPT] = Visit(page, by_history)
    visit = _visit()
    visit.made = set()
    return visit


def comes_back(key: str) -> bool:
    """Whether a control that is made now was not there before, as after a page that stopped at a
    mistake above it: the browser would begin with the widget's own default. It counts as made."""
    visit = _visit()
    gone = visit.shown is not None and key not in visit.shown
    visit.made.add(key)
    return gone


def seed(key: str, parse: Callable[[str], Value | None], default: Value) -> None:
    """Give a widget its value before it is made: the address's, else what it had, else default.

    parse turns the address's word into a value, or None where it is not one. After going back
    to an address that says nothing of this key, the default counts and not what it had.
    """
    visit = _visit()
    first = key not in visit.heard
    visit.heard.add(key)
    said = st.query_params.get(key) if first or key not in st.session_state else None
    value = None if said is None else parse(said)
    if value is not None:
        st.session_state[key] = value
    elif key not in st.session_state or (first and visit.by_history):
        st.session_state[key] = default
    elif first:
        # Kept from another page, it would come out of this page's widget as that widget's blank.
        st.session_state[key] = st.session_state[key]


def news(key: str, parts: Collection[str]) -> bool:
    """Whether the page was just entered with an address that says something of these parts.

    key is remembered, so that each entering is news once.
    """
    visit = _visit()
    first = key not in visit.heard
    visit.heard.add(key)
    return first and (visit.by_history or any(part in st.query_params for part in parts))


def write(key: str, value: str | None) -> None:
    """Put a value into the address, or None to leave it bare."""
    write_all({key: value})


def write_all(values: Mapping[str, str | None]) -> None:
    """Put these values into the address at once: what is told is one step back in the browser.

    The address that a run came with may be a moment old: what it says already counts only if the
    browser was not told something else since.
    """
    visit, news = _visit(), {}
    for key, value in values.items():
        said = st.query_params.get(key)
        told = visit.told.get(key, said)
        visit.told[key] = value
        if not said == told == value:
            news[key] = value
    if news:
        now = dict.fromkeys([*st.query_params, *news])
        words = {key: news.get(key, st.query_params.get(key)) for key in now}
        st.query_params.from_dict({key: word for key, word in words.items() if word is not None})

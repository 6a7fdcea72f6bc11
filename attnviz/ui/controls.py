"""Controls whose value lives in the address, clamped on the server.

The key of a control is its query key. A widget's limits hold in the browser only, so what
arrives is checked here again: a value that was never on offer becomes the default.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, TypeVar
from urllib.parse import quote

import streamlit as st

from attnviz.ui import address
from attnviz.ui.folded import made

Option = TypeVar("Option", str, int, float)

LONGEST_IN_URL = 1500
"""Characters, escaped: beyond this, servers and chat programs start to refuse or cut links."""


def _seed(key: str, options: Sequence[Option], default: Option) -> None:
    words = {str(option): option for option in options}
    address.seed(key, words.get, default)
    if st.session_state[key] not in options:  # the options have changed since it was chosen
        st.session_state[key] = default


def _keep(key: str, value: Option | None, options: Sequence[Option], default: Option) -> Option:
    value = value if value is not None and value in options else default
    address.write(key, None if value == default else str(value))
    return value


def kept(options: Sequence[Option], *, key: str, default: Option) -> Option:
    """The value of a control that is drawn elsewhere, as in a component of ours."""
    _seed(key, options, default)
    # Written anew: Streamlit forgets what a widget of this key held once that widget is gone.
    st.session_state[key] = st.session_state[key]
    return _keep(key, st.session_state[key], options, default)


def pick(
    label: str,
    options: Sequence[Option],
    *,
    key: str,
    default: Option | None = None,
    show: Callable[[Option], str] = str,
    help: str | None = None,
) -> Option:
    """One of a longer list."""
    first = options[0] if default is None else default
    _seed(key, options, first)
    value = made(key, lambda: st.selectbox(label, options, format_func=show, key=key, help=help))
    return _keep(key, value, options, first)


def segment(
    label: str,
    options: Sequence[Option],
    *,
    key: str,
    default: Option | None = None,
    show: Callable[[Option], str] = str,
    help: str | None = None,
    named: bool = True,
) -> Option:
    """One of two to five, all in sight; named=False leaves the label to screen readers."""
    first = options[0] if default is None else default
    _seed(key, options, first)
    value = made(
        key,
        lambda: st.segmented_control(
            label,
            options,
            required=True,
            format_func=show,
            key=key,
            help=help,
            label_visibility="visible" if named else "collapsed",
        ),
    )
    return _keep(key, value, options, first)


def section_now(first: str) -> str:
    """What section() will return below, for what stands above it."""
    return str(st.session_state.get("tab", st.query_params.get("tab", first)))


def section(titles: dict[str, str]) -> str:
    """Which part of a page is shown below its picture, as a word; the first one until chosen.

    Not st.tabs: five of those add 20 ms to every change of any control on the page.
    """
    words, title = list(titles), titles.__getitem__
    return segment("Below the picture", words, key="tab", show=title, named=False)


def ladder(
    label: str,
    values: Sequence[Option],
    *,
    key: str,
    default: Option,
    show: Callable[[Option], str] = str,
    help: str | None = None,
) -> Option:
    """A slider over chosen values: 1, 2, 4, 8 rather than everything between."""
    _seed(key, values, default)
    value = made(key, lambda: st.select_slider(label, values, format_func=show, key=key, help=help))
    return _keep(key, value if not isinstance(value, tuple) else value[0], values, default)


def number(
    label: str, low: int, high: int, *, key: str, default: int, help: str | None = None
) -> int:
    """A whole number within limits."""

    def parse(word: str) -> int | None:
        plain = word.isascii() and word.lstrip("-").isdigit() and len(word) < 16
        return int(word) if plain and low <= int(word) <= high else None

    address.seed(key, parse, default)
    st.session_state[key] = min(max(int(st.session_state[key]), low), high)
    value = made(
        key, lambda: st.number_input(label, min_value=low, max_value=high, key=key, help=help)
    )
    value = min(max(int(value), low), high)
    address.write(key, None if value == default else str(value))
    return value


def toggle(label: str, *, key: str, default: bool = False, help: str | None = None) -> bool:
    """On or off."""
    address.seed(key, {"true": True, "false": False}.get, default)
    value = made(key, lambda: bool(st.toggle(label, key=key, help=help)))
    address.write(key, None if value == default else str(value).lower())
    return value


def line(
    label: str, *, key: str, default: str = "", placeholder: str = "", help: str | None = None
) -> str:
    """One short line that the visitor types."""
    address.seed(key, str, default)
    value = made(key, lambda: st.text_input(label, key=key, placeholder=placeholder, help=help))
    fits = len(quote(value)) <= LONGEST_IN_URL
    address.write(key, None if value == default or not fits else value)
    return value


def text(
    label: str,
    *,
    key: str,
    default: str,
    height: int | Literal["content", "stretch"] = "content",
    help: str | None = None,
) -> str:
    """The visitor's own text, kept across pages, and in the address while it is short enough.

    It is never cut: a text too long for an address is kept, and the page says so.
    """
    address.seed(key, str, default)
    value = made(
        key,
        lambda: st.text_area(label, key=key, persist_state="session", height=height, help=help),
    )
    fits = len(quote(value)) <= LONGEST_IN_URL
    address.write(key, None if value == default or not fits else value)
    if not fits:
        st.markdown(
            ":material/link_off: This text is too long for a link: the address of this page "
            "does not hold it."
        )
    return value

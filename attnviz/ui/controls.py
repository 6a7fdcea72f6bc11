"""Controls whose value lives in the URL, clamped on the server.

The key of a control is its query key. A widget's limits hold in the browser only, so what
arrives is checked here again: a value that was never on offer becomes the default.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, TypeVar
from urllib.parse import quote

import streamlit as st

Option = TypeVar("Option", str, int, float)

LONGEST_IN_URL = 1500
"""Characters, escaped: beyond this, servers and chat programs start to refuse or cut links."""


def _known(value: Option | None, options: Sequence[Option], default: Option) -> Option:
    return value if value is not None and value in options else default


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
    value = st.selectbox(
        label,
        options,
        index=list(options).index(first),
        format_func=show,
        key=key,
        bind="query-params",
        help=help,
    )
    return _known(value, options, first)


def segment(
    label: str,
    options: Sequence[Option],
    *,
    key: str,
    default: Option | None = None,
    show: Callable[[Option], str] = str,
    help: str | None = None,
) -> Option:
    """One of two to five, all in sight."""
    first = options[0] if default is None else default
    value = st.segmented_control(
        label,
        options,
        default=first,
        required=True,
        format_func=show,
        key=key,
        bind="query-params",
        help=help,
    )
    return _known(value, options, first)


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
    value = st.select_slider(
        label,
        values,
        value=default,
        format_func=show,
        key=key,
        bind="query-params",
        help=help,
    )
    return _known(value if not isinstance(value, tuple) else value[0], values, default)


def number(
    label: str, low: int, high: int, *, key: str, default: int, help: str | None = None
) -> int:
    """A whole number within limits."""
    value = st.number_input(
        label,
        min_value=low,
        max_value=high,
        value=default,
        key=key,
        bind="query-params",
        help=help,
    )
    return min(max(int(value), low), high)


def toggle(label: str, *, key: str, default: bool = False, help: str | None = None) -> bool:
    """On or off."""
    return bool(st.toggle(label, value=default, key=key, bind="query-params", help=help))


def text(
    label: str,
    *,
    key: str,
    default: str,
    height: int | Literal["content", "stretch"] = "content",
    help: str | None = None,
) -> str:
    """The visitor's own text, kept across pages, and in the URL while it is short enough.

    Not bound by Streamlit: a long text would make an address that servers refuse, and it must
    never be cut or lost.
    """
    mirror = f"_url_{key}"
    in_url = st.query_params.get(key)
    if in_url is not None and in_url != st.session_state.get(mirror):
        st.session_state[key] = in_url
    elif key not in st.session_state:
        st.session_state[key] = default
    value = st.text_area(label, key=key, persist_state="session", height=height, help=help)
    fits = len(quote(value)) <= LONGEST_IN_URL
    if value != default and fits:
        if in_url != value:
            st.query_params[key] = value
        st.session_state[mirror] = value
    else:
        st.query_params.pop(key, None)
        st.session_state[mirror] = None
        if not fits:
            st.markdown(
                ":material/link_off: This text is too long for a link: the address of this page "
                "does not hold it."
            )
    return value

"""Controls behind a button: made only while it is open.

A control that nobody sees costs each run as much as one in sight (nine of them, 30 ms between a
change and its picture). While the button is closed they keep their values without being made.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar, Token
from types import TracebackType
from typing import TypeVar

import streamlit as st

from attnviz.ui import address

Value = TypeVar("Value")

_FOLDED = "_folded"
_made: ContextVar[bool] = ContextVar("_made", default=True)


class Folded:
    """What stands behind one button. Enter it as often as needed."""

    def __init__(self, label: str, *, key: str = "more", icon: str = ":material/tune:") -> None:
        self._place = st.popover(label, icon=icon, key=key, on_change="rerun")
        self._tokens: list[Token[bool]] = []

    @property
    def open(self) -> bool:
        return bool(self._place.open)

    def __enter__(self) -> Folded:
        self._tokens.append(_made.set(self.open))
        self._place.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._place.__exit__(kind, problem, trace)
        _made.reset(self._tokens.pop())


def made(key: str, make: Callable[[], Value]) -> Value:
    """The value of a control: from the widget that make() makes, or as it was left."""
    folded: set[str] = st.session_state.setdefault(_FOLDED, set())
    is_made = _made.get()
    came_back = is_made and address.comes_back(key)
    if not is_made or key in folded or came_back:
        # Written anew: while it is not there Streamlit would forget it, and when it comes back
        # the browser would begin with the widget's own default.
        st.session_state[key] = st.session_state[key]
    if is_made:
        folded.discard(key)
        return make()
    folded.add(key)
    return st.session_state[key]

"""The calculator: sliders whose numbers, curve and strip follow while they are dragged.

Its formulas are kv_cache's, written a second time in web/bytes.js for the browser; a test holds
the two equal. What a slider says when it is let go comes back as the slider's value.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st
from streamlit.components.v2 import component

from attnviz.components.calculator.payload import payload
from attnviz.kv_cache import CacheSpec, Size

__all__ = ["Slider", "calculator", "payload"]

# As in the explorer: given code, Streamlit imports it once, and does not load it at each change.
_MAIN = "_stcore/bidi-components/attnviz.calculator/main.js"
_BOOT = """const {{ default: mount }} = await import(location.origin + {path});
export default mount;
"""


@dataclass(frozen=True)
class Slider:
    """A slider over whole numbers; key names it in the address."""

    key: str
    label: str
    values: tuple[int, ...]
    value: int


@functools.cache
def _mounted() -> Callable[..., Any]:
    base = st.get_option("server.baseUrlPath").strip("/")
    path = "/".join(["", *filter(None, [base, _MAIN])])
    return component(
        "attnviz.calculator",
        html='<div class="calculator"></div>',
        js=_BOOT.format(path=json.dumps(path)),
        css="calculator.css",
    )


def calculator(
    size: Size,
    sliders: Sequence[Slider],
    *,
    key: str,
    own: Mapping[str, Any] | None,
    others: Sequence[CacheSpec],
    free_bytes: int,
    dark: bool,
    moved: Callable[[str, int], None],
) -> None:
    """Draw it. own: the shape of a design of the visitor's own, None of a model.

    moved(key, value) is called, before the page runs again, for each slider that was let go at
    another value; only values that the slider offers get through.
    """

    def hear() -> None:
        said = st.session_state[key].get("values")
        for slider in sliders:
            value = said.get(slider.key) if isinstance(said, Mapping) else None
            if type(value) is int and value in slider.values and value != slider.value:
                moved(slider.key, value)

    data = payload(size, sliders, own=own, others=others, free_bytes=free_bytes, dark=dark)
    with st.container(key=f"attnviz-calculator-{key}"):
        _mounted()(key=key, data=data, height="content", on_values_change=hear)

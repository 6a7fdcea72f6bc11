"""The browser's side of the explorer, as Streamlit knows it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from streamlit.components.v2 import component


@functools.cache
def mounted() -> Callable[..., Any]:
    """Registered once, when first drawn: outside a server there is nothing to register with."""
    return component(
        "attnviz.explorer", html='<div class="explorer"></div>', js="main.js", css="explorer.css"
    )

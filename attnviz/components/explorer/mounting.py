"""The browser's side of the explorer, as Streamlit knows it."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from typing import Any

import streamlit as st
from streamlit.components.v2 import component

# Given a file, Streamlit loads it by a new script element at every change of the data and waits
# for it: 10 to 30 ms before the picture may draw. Given code, it imports it once. So the code it
# is given is one line that hands on the file.
_MAIN = "_stcore/bidi-components/attnviz.explorer/main.js"
_BOOT = """const {{ default: mount }} = await import(location.origin + {path});
export default mount;
"""


@functools.cache
def mounted() -> Callable[..., Any]:
    """Registered once, when first drawn: outside a server there is nothing to register with."""
    base = st.get_option("server.baseUrlPath").strip("/")
    path = "/".join(["", *filter(None, [base, _MAIN])])
    return component(
        "attnviz.explorer",
        html='<div class="explorer"></div>',
        js=_BOOT.format(path=json.dumps(path)),
        css="explorer.css",
    )

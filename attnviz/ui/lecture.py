"""The lecture view of every page, `?view=lecture`: the picture alone, on a projector."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

# Hidden, not only covered: what cannot be seen takes no focus and is not read out.
_STYLE = """<style>
[data-testid="stSidebar"], [data-testid="stHeader"], [data-testid="stToolbar"],
[data-testid="stSidebarCollapsedControl"] { display: none !important; }
[data-testid="stMainBlockContainer"] { padding-top: 1rem; }
.stApp:has([class*="st-key-attnviz-explorer-"]) [data-testid="stElementContainer"]:not(
  [class*="st-key-attnviz-explorer-"] *) { visibility: hidden !important; }
.stApp [class*="st-key-attnviz-explorer-"] {
  visibility: visible; position: fixed; inset: 0; z-index: 1000; overflow: auto;
  width: auto; max-width: none; height: auto;
}
.stApp:has([class*="st-key-attnviz-explorer-"]) [data-testid="stBottom"] { display: none; }
</style>"""


def active() -> bool:
    """Whether the address asks for it."""
    return st.query_params.get("view") == "lecture"


def frame() -> None:
    """Leave the picture alone on the screen, if the address asks for it."""
    if active():
        st.html(_STYLE)


def mask_switch(toggle: Callable[[], None]) -> None:
    """What the key m presses: toggle runs before the page's next run."""
    if active():
        st.button("Mask on or off", key="lecture_mask", on_click=toggle)

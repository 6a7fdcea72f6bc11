"""The lecture view of every page, `?view=lecture`: the picture alone, on a projector."""

from __future__ import annotations

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


def mask_key(key: str, *, off: object, on: object) -> None:
    """Let the key m switch the control of that key between off and what it was before, or on.

    Called before the control is made. The control gets its value at every run: one that was asked
    for before the browser knew of the key still comes with the control's older value.
    """
    if not active():
        return
    kept = f"lecture:{key}"

    def toggle() -> None:
        before, shown = st.session_state.get(kept, (st.session_state.get(key, off), True))
        if before == off:
            before, shown = on, False
        st.session_state[kept] = before, not shown

    st.button("Mask on or off", key="lecture_mask", on_click=toggle)
    if kept in st.session_state:
        before, shown = st.session_state[kept]
        st.session_state[key] = before if shown else off

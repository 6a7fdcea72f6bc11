"""The script behind every page: page config, navigation."""

from pathlib import Path

import streamlit as st

PAGES = Path(__file__).parents[2] / "pages"
page = st.navigation(
    [
        st.Page(PAGES / "home.py", title="Home", default=True),
        st.Page(PAGES / "masks.py", title="Masks"),
    ]
)
page.run()

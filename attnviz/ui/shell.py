"""The script behind every page: page config, navigation, and what all pages share.

An address that no page has shows the first page, under a notice that Streamlit puts up itself.
"""

import streamlit as st

from attnviz.ui import heap
from attnviz.ui.pages import PAGES

st.set_page_config(page_title="attnviz", page_icon=":material/grid_on:", layout="wide")

page = st.navigation([entry.page() for entry in PAGES])
st.set_page_config(page_title=f"{page.title} · attnviz")

try:
    page.run()
finally:
    heap.settle()

"""The script behind every page: page config, navigation, and what all pages share."""

from urllib.parse import urlsplit

import streamlit as st

from attnviz.ui import heap
from attnviz.ui.pages import PAGES

st.set_page_config(page_title="attnviz", page_icon=":material/grid_on:", layout="wide")

page = st.navigation([entry.page() for entry in PAGES])
st.set_page_config(page_title=f"{page.title} · attnviz")

last = urlsplit(st.context.url or "").path.rstrip("/").rpartition("/")[2]
if page.url_path == "" and last not in ("", *(entry.word for entry in PAGES)):
    st.info(
        "There is no page at this address, so this is the start page. "
        "The pages are listed in the sidebar.",
        icon=":material/wrong_location:",
    )

try:
    page.run()
finally:
    heap.settle()

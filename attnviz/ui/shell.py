"""The script behind every page: page config, navigation, and what all pages share.

An address that no page has shows the first page, under a notice that Streamlit puts up itself.
"""

from pathlib import Path

import streamlit as st
from streamlit.runtime.scriptrunner import StopException

from attnviz.ui import address, computing, heap, lecture
from attnviz.ui.pages import PAGES

# A file of ours: the browser would fetch a Material icon for its tab from another host.
ICON = Path(__file__).parents[2] / "assets" / "icon.png"
st.set_page_config(page_title="attnviz", page_icon=ICON, layout="wide")

# With something below them in the sidebar, Streamlit would fold the last pages away. No headings:
# its list of them has items that are none, at which a screen reader stumbles.
page = st.navigation([entry.page() for entry in PAGES], expanded=True)
st.set_page_config(page_title=f"{page.title} · attnviz")

visit = address.begin(page.url_path)
lecture.frame()
computing.control()
try:
    page.run()
except StopException:  # a page stops at a mistake, which it has told
    visit.end()
    raise
else:
    visit.end()
finally:
    heap.settle()

"""The app that `streamlit run app.py` and `uvicorn app:app` both serve."""

import streamlit as st
from starlette.middleware import Middleware

from attnviz.ui.gather import Gather
from attnviz.ui.headers import SecurityHeaders

# The script lives away from pages/: beside it, Streamlit would take that folder for its
# legacy pages and answer a cold deep link without running the script at all.
app = st.App("attnviz/ui/shell.py", middleware=[Middleware(SecurityHeaders), Middleware(Gather)])

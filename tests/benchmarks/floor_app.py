"""The least that a page can do: a switch, and a line that says where it stands."""

import streamlit as st

st.text(f"on: {st.toggle('Switch')}")

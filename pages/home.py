"""Home: what this is, a real picture, and where to go."""

import streamlit as st

from attnviz.components.explorer import explorer
from attnviz.figures.capture import capture_figure
from attnviz.models import catalog, recorded
from attnviz.ui import device_note, page, selection
from attnviz.ui.pages import PAGES

RECORDING = "smollm2-135m"
FIRST_LOOK = {"layer": 8, "head": 1}

page.head(
    "Where does a language model look?",
    "Each small square is one attention head of a real model reading one sentence; the large map "
    "is the head you choose. Rows ask, columns answer: the darker, the more a word draws on it.",
)

recording = recorded.load(RECORDING)
chosen = selection.current("home", **FIRST_LOOK, of=recording)
selection.keep(
    "home",
    explorer(capture_figure(recording, chosen.layer, chosen.head), key="home", selection=chosen),
)
st.text(recording.caption)
page.caution("not_explanation")

st.subheader("Where to go", anchor=False)
columns = st.columns(2)
for place, entry in enumerate(PAGES[1:]):
    with columns[place % 2]:
        st.page_link(entry.script, label=f"**{entry.title}**", icon=f":material/{entry.icon}:")
        st.markdown(entry.about)

st.subheader("What is here", anchor=False)
for model in catalog.bundled():
    st.markdown(f"**{model.title}** ({model.name}): {model.provenance}")
device_note.device_note()

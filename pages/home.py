"""Home: what this is, a real picture, and where to go."""

import streamlit as st

from attnviz.components.explorer import explorer
from attnviz.figures import capture as figures
from attnviz.figures.written import written_figure
from attnviz.models import catalog, recorded, written
from attnviz.ui import device_note, page, selection
from attnviz.ui.pages import PAGES

FIRST_LOOK = (5, 5)

page.head(
    "Where does a language model look?",
    "Each small square is one attention head of a real model reading one sentence; choose one to "
    "see it large. Rows ask, columns answer: the stronger a cell, the more a word draws on it.",
)

recording = recorded.load("smollm2-135m")
chosen = selection.current(
    "home",
    layers=figures.layers(recording),
    n_heads=figures.n_heads(recording),
    default=FIRST_LOOK,
    panel="weights",
)
figure = figures.capture_figure(recording, chosen.layer, chosen.head)
selection.keep(explorer(figure, key="home", selection=chosen), default=FIRST_LOOK)
st.text(recording.caption)
page.caution("not_explanation")

st.subheader("How it writes", anchor=False)
st.markdown(
    "Each word that the model writes becomes one more row, which looks back at all that stands "
    "there by then. Where a word comes again, this head finds what followed it the first time."
)
generation = written.load("smollm2-135m")
explorer(written_figure(generation), key="generation")
st.text(generation.caption)

st.subheader("Where to go", anchor=False)
for first in range(1, len(PAGES), 2):  # by rows, so that a phone shows them in order
    for column, entry in zip(st.columns(2, gap="large"), PAGES[first : first + 2], strict=False):
        with column:
            st.page_link(entry.script, label=f"**{entry.title}**", icon=f":material/{entry.icon}:")
            st.markdown(entry.about)

st.subheader("What runs here", anchor=False)
for model in catalog.bundled():
    st.markdown(f"**{model.title}**, {model.size}. {model.provenance}")
device_note.device_note()

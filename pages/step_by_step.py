"""Step by step: one attention head, every matrix of it, and the arithmetic of any cell."""

import streamlit as st

from attnviz.errors import AttnvizError
from attnviz.figures import steps as figures
from attnviz.ui import controls, page, step_controls, step_panels

page.head(
    "What does one attention head compute?",
    "Each token asks with a query, is found by its key and hands over its value. Click any cell "
    "for its arithmetic.",
)
choices = step_controls.step_controls()

try:
    with page.loading():
        run = step_controls.run(choices)
except AttnvizError as problem:
    page.error(problem)
    st.stop()

trace = run.trace
chosen = step_panels.explorer_of(trace, run.code)
with st.bottom, st.container(border=True, key="arithmetic", gap="xsmall"):
    step_panels.arithmetic(trace, chosen)
st.text(figures.settings_line(trace))
st.text(run.ran)
page.caution("random_weights", "not_explanation")

section = controls.section(
    {
        "sources": "Lesson and sources",
        "formulas": "Formulas and shapes",
        "scaling": "Why divide by √d_k",
        "dictionary": "Soft dictionary",
        "code": "Code",
    }
)
if section == "scaling":
    step_panels.scaling(trace)
if section == "dictionary":
    try:
        step_panels.soft_dictionary()
    except AttnvizError as problem:
        page.error(problem)
if section == "formulas":
    st.markdown(figures.steps_table(trace))
    page.notes(run.notes)
if section == "code":
    st.markdown("Python that computes the numbers above:")
    st.code(run.code, wrap_lines=True)
    st.markdown("The functions that computed them, as they ran:")
    st.code(step_controls.source(trace), wrap_lines=True)
if section == "sources":
    page.lesson("scaled_dot_product")

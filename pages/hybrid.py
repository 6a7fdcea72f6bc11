"""Hybrid: a stack of layers with a state and layers with a cache, composed by the visitor."""

import streamlit as st

from attnviz.components.explorer import explorer
from attnviz.errors import AttnvizError
from attnviz.ui import controls, hybrid_panels, page, selection, work
from attnviz.ui.hybrid_controls import StackJob, hybrid_controls

page.head(
    "How few layers have to remember every token?",
    "Layers with a state (L) forget gracefully and cost the same at any length; a few layers with "
    "a cache (F) between them can still look anything up. Compose a stack and see every map.",
)
with page.loading():
    from attnviz.figures import hybrid as figures

try:
    choices = hybrid_controls()
    stack = work.result_of(StackJob(choices), st.empty())
except AttnvizError as problem:
    page.error(problem)
    st.stop()

layers, default = range(len(stack.layers)), (stack.pattern.first_full, 0)
chosen = selection.current(
    "hybrid", layers=layers, n_heads=stack.maps.shape[1], default=default, panel="weights"
)
layer, head = chosen.layer or 0, chosen.head or 0
code = hybrid_panels.code_of(choices)
chosen = explorer(figures.stack_figure(stack, layer, head, code), key="hybrid", selection=chosen)
selection.keep(chosen, default=default)
st.markdown(figures.layer_sentence(stack, chosen.layer or 0, chosen.head or 0))
st.text(f"{stack.pattern.letters}  ({stack.pattern.ratio})")
page.caution("random_weights", "effective_map")

section = controls.section(
    {
        "lesson": "Lesson and sources",
        "kept": "What each layer keeps",
        "step": "Cost of a decoding step",
        "code": "Code",
    }
)
if section == "lesson":
    page.lesson("hybrid")
if section == "kept":
    hybrid_panels.kept(choices)
if section == "step":
    hybrid_panels.step(choices)
if section == "code":
    st.code(code, wrap_lines=True)

"""Variants: any registered attention mechanism on the visitor's input, from one template."""

import streamlit as st

from attnviz.components.explorer import explorer
from attnviz.errors import AttnvizError
from attnviz.figures.maps import kind_sentence, map_figure
from attnviz.ui import controls, latent_panel, page, selection, variant_panels
from attnviz.ui.picture_panels import over_picture
from attnviz.ui.variant_controls import chosen_variant, run, variant_controls

with page.loading():
    variant = chosen_variant()
page.head(*variant_panels.opening(variant))
choices = variant_controls(variant)
if choices.source.picture is not None and choices.source.picture.missing:
    page.plain("Upload a PNG or JPEG above, and its patches become the tokens.")
    st.stop()

try:
    made = run(choices)
    trace = made.trace
    n_heads = trace.weights.shape[1]
except AttnvizError as problem:
    page.error(problem)
    st.stop()

chosen = selection.current(
    "variant_map", layers=(0,), n_heads=n_heads, default=(0, 0), panel="weights"
)
head = chosen.head or 0
if made.view is not None:
    over_picture(trace, made.view, chosen)
figure = map_figure(trace, head, made.code)
chosen = explorer(figure, key="variant_map", selection=chosen)
selection.keep(chosen, default=(0, 0))
head = chosen.head or 0
st.markdown(kind_sentence(trace, head))
page.plain(made.ran)
page.caution(*variant_panels.cautions(trace))

section = controls.section(variant_panels.sections_of(variant))
if section == "lesson":
    variant_panels.lesson(variant)
if section == "steps":
    variant_panels.steps(trace, head)
if section == "state":
    variant_panels.state(trace, head)
if section == "decoding":
    latent_panel.decoding(trace, head)
if section == "formulas":
    variant_panels.formulas(made)
if section == "cost":
    variant_panels.cost(choices, trace)
if section == "code":
    variant_panels.code(made)

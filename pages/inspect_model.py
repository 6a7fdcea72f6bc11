"""Inspect a model: every head of a loaded model on the visitor's own text."""

import streamlit as st

from attnviz.components.explorer import explorer
from attnviz.errors import AttnvizError
from attnviz.figures import capture as figures
from attnviz.jobs import CaptureJob
from attnviz.ui import (
    controls,
    examples,
    granularity_panels,
    inspect_panels,
    maps,
    model_control,
    page,
    seen_panels,
    selection,
    structure_panels,
    which_panels,
    work,
)
from attnviz.ui.folded import Folded

page.head(
    "Which words does each head of this model read?",
    "Every square is one head's map, the large one can be read cell by cell. Rows ask, columns "
    "answer.",
)

left, right = st.columns([1, 2])
with left:
    model = model_control.chosen()
with right:
    text = examples.text(model.name)

    with st.container(horizontal=True):
        with Folded("A conversation, a target, a picture", key="reading") as folded:
            more = inspect_panels.reading(folded.open, model.name)
        units = granularity_panels.choice()

job = CaptureJob(model, text, **more)
try:
    capture = work.result_of(job, st.empty())
    own = maps.shown(capture)
    with left:
        drawn, own = structure_panels.weighed(job, own)
    shown = granularity_panels.read_in(units, job, own, st.empty())
except AttnvizError as problem:
    page.error(problem)
    st.stop()

if note := getattr(own, "note", ""):
    st.text(note)
granularity_panels.told(units, shown)
default = figures.default_head(own)
chosen = selection.current(
    "inspect",
    layers=figures.layers(shown),
    n_heads=figures.n_heads(shown),
    default=default,
    panel="weights",
    shape=figures.shape(shown),
    unit=getattr(shown, "unit", "token"),
    whose=shown.model_name,
)
figure = maps.figure_of("inspect", drawn, shown, chosen)
# Predictions are of no head: with them alone below, heads are the browser's own business.
quiet = controls.section_now("next") == "next" and capture.image is None
group = getattr(shown, "group", None)
regroup = None if shown is own else shown.over(None).over
source = maps.source_of(drawn, signed=shown.signed, group=group, regroup=regroup)
chosen = explorer(figure, key="inspect", selection=chosen, source=source, quiet=quiet)
selection.keep(chosen, default=default)
if capture.image is not None:
    seen_panels.over_picture(own, chosen, "inspect")
st.text(f"{capture.check.sentence} Computed in {capture.dtype} on {capture.device}.")
for note in capture.notes:
    st.text(note)
page.caution("not_explanation", "head_role")

# What ranks and likens heads reads the run's own tokens.
tabs = {"next": "What comes next"} | ({"which": which_panels.TITLE} if shown is own else {})
tabs |= {"heads": "All heads as a table", "files": "Numbers out"}
if shown.signed:
    tabs |= {} if shown.nature in ("waves", "mixing") else {"state": "Gates and state"}
elif shown is own:
    tabs |= structure_panels.tabs(shown)
section = controls.section(tabs)
if section == "next":
    inspect_panels.predictions(capture)
if section == "which":
    which_panels.which_heads(shown, drawn, chosen, "inspect")
if section == "heads":
    inspect_panels.heads(shown, "inspect")
if section == "alike":
    structure_panels.alike(job, capture, shown, chosen)
if section == "chains":
    structure_panels.chained(job, capture, shown)
if section == "state":
    inspect_panels.state(own, chosen.layer)
if section == "files":
    inspect_panels.files(shown, chosen.layer, chosen.head, figure.file_stem)

"""Interventions: remove heads of a real model, and see which ones a prediction needs."""

import streamlit as st

from attnviz.errors import AttnvizError
from attnviz.figures import interventions as figures
from attnviz.interventions.jobs import SweepJob
from attnviz.models import catalog
from attnviz.ui import controls, intervention_panels, page, work

SENTENCE = "Mr and Mrs Dursley were perfectly normal, thank you. Mr and Mrs Durs"

page.head(
    "Which heads does this prediction need?",
    "Each head is removed in turn and the text is read again: a square is what that does to the "
    "next token.",
)

left, right = st.columns([1, 2])
with left:
    titles = {entry.name: entry.title for entry in catalog.bundled() if entry.kind == "decoder"}
    model = controls.pick("Model", list(titles), key="model", show=titles.__getitem__)
    word = controls.line(
        "Next word to follow",
        key="word",
        placeholder="the likeliest one",
        help="Begin it with a space where the text would go on with one.",
    )
with right:
    text = controls.text("Text", key="text", default=SENTENCE, height=120)

job = SweepJob(model, text, word)
try:
    swept = work.result_of(job, st.empty())
except AttnvizError as problem:
    page.error(problem)
    st.stop()

measure = controls.segment(
    "Colour", list(figures.MEASURES), key="by_what", show=figures.MEASURES.__getitem__, named=False
)
dark = st.context.theme.type == "dark"
grid, bars = st.columns([3, 2])
with grid:
    page.chart(
        figures.grid_chart(swept, measure, dark=dark),
        "Grid of all heads, layers down, heads across; the colour is the "
        f"{figures.MEASURES[measure]}.",
    )
with bars:
    page.chart(
        figures.needed_chart(swept, measure, dark=dark),
        "Bars: the twelve heads whose removal harms most.",
    )
st.text(figures.sweep_sentence(swept))
page.caution("removed", "head_role")

worst = swept.table().iloc[0]
suggested = f"{worst['layer']:.0f}.{worst['head']:.0f}"
section = controls.section(
    {
        "change": "Remove heads, hide tokens",
        "cell": "Which heads do this?",
        "patterns": "Induction and duplicates",
        "attribution": "Parts of the logit",
        "numbers": "Numbers and files",
        "lesson": "How it is measured",
        "code": "Code",
    }
)
if section == "change":
    intervention_panels.change(job, suggested)
if section == "cell":
    intervention_panels.cell(job)
if section == "patterns":
    intervention_panels.patterns(job)
if section == "attribution":
    intervention_panels.attribution(job)
if section == "numbers":
    intervention_panels.numbers(swept)
if section == "lesson":
    page.lesson("interventions")
if section == "code":
    intervention_panels.code(job, suggested)

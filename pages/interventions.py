"""Interventions: remove heads of a real model, and see which ones a prediction needs."""

import streamlit as st

from attnviz.errors import AttnvizError
from attnviz.figures import interventions as figures
from attnviz.interventions.jobs import SweepJob
from attnviz.models.choice import READERS
from attnviz.ui import change_panel, controls, intervention_panels, model_control, page, work

SENTENCE = "Mr and Mrs Dursley were perfectly normal, thank you. Mr and Mrs Durs"
DATE, WRITTEN = "tuesday, march 3rd, 1998", "1998-0"
SECTIONS = {
    "change": "Change heads and pairs",
    "cell": "Which heads do this?",
    "patterns": "Induction and duplicates",
    "attribution": "Parts of the logit",
    "numbers": "Numbers and files",
    "lesson": "How it is measured",
    "code": "Code",
}
NOT_OF = {
    "encoder": {"patterns", "attribution"},
    "encoder_decoder": {"cell", "patterns", "attribution"},
}
"""What is about the next token of one text, and so not for every kind of model."""

page.head(
    "Which heads does this prediction need?",
    "Each head is removed in turn and the text is read again: a square is what that does to the "
    "next token, or to the output states of a model that predicts none.",
)

left, right = st.columns([1, 2])
with left:
    model = model_control.chosen(READERS)
    try:
        kind, refused = model_control.kind_of(model, READERS), None
    except AttnvizError as problem:  # told below, where the controls are in sight
        kind, refused = "decoder", problem
    word = target = ""
    if kind != "encoder":
        word = controls.line(
            "Next token to follow",
            key="word",
            placeholder="the likeliest one",
            help="Begin it with a space where the text would go on with one.",
        )
with right:
    if kind == "encoder_decoder":
        text = controls.line("What it reads", key="source", default=DATE)
        target = controls.line(
            "What it has written so far",
            key="target",
            default=WRITTEN,
            placeholder="all that it writes by itself",
        )
    else:
        text = controls.text("Text", key="text", default=SENTENCE, height=120)

job = SweepJob(model, text, word, target)
try:
    if refused:
        raise refused
    swept = work.result_of(job, st.empty())
except AttnvizError as problem:
    page.error(problem)
    st.stop()

ways = figures.measures(swept)
measure = ways[0]
if len(ways) > 1:
    measure = controls.segment(
        "Colour", ways, key="by_what", show=figures.MEASURES.__getitem__, named=False
    )
dark = st.context.theme.type == "dark"
grid, bars = st.columns([3, 2])
with grid:
    page.chart(
        figures.grid_chart(swept, measure, dark=dark),
        "Grid of all heads, layers down, heads across; the colour is what a removal changes: "
        f"{figures.MEASURES[measure]}.",
    )
with bars:
    page.chart(
        figures.needed_chart(swept, measure, dark=dark),
        "Bars: the twelve heads whose removal changes most.",
    )
st.text(figures.sweep_sentence(swept))
page.caution("removed", "head_role")

suggested = figures.head_words(swept.table().iloc[0])
section = controls.section(
    {word: title for word, title in SECTIONS.items() if word not in NOT_OF.get(kind, ())}
)
if section == "change":
    change_panel.change(job, suggested)
if section == "cell":
    intervention_panels.cell(job)
if section == "patterns":
    intervention_panels.patterns(job)
if section == "attribution":
    intervention_panels.attribution(job)
if section == "numbers":
    intervention_panels.numbers(job, swept)
if section == "lesson":
    page.lesson("interventions")
if section == "code":
    change_panel.code(job, swept, suggested)

"""Many texts: every head's metrics, and the harm of removing it, as means with their errors."""

import streamlit as st

from attnviz.corpus.jobs import MetricsJob
from attnviz.errors import AttnvizError
from attnviz.figures import corpus as figures
from attnviz.models.choice import ONE_TEXT
from attnviz.ui import controls, corpus_panels, model_control, page, work
from attnviz.ui.folded import Folded

LINES = """the cat sat on the mat and the cat sat down
one two three four one two three four
Mr and Mrs Dursley met Mr and Mrs Durs
red blue red blue green red blue green
a rose is a rose is a rose
to be or not to be, to be or not"""

page.head(
    "Does that head do it on every text?",
    "A bar is a head's mean over the texts, its line one standard error to each side: what it does "
    "on most texts stands clear of it.",
)

left, right = st.columns([1, 2])
with left:
    model = model_control.chosen(ONE_TEXT)
    metric = controls.pick(
        "What is measured", list(figures.TITLES), key="metric", show=figures.TITLES.__getitem__
    )
with right:
    typed = controls.text("Texts, one a line", key="texts", default=LINES, height=120)
    with Folded("A file of texts", key="file", icon=":material/upload_file:") as folded:
        if folded.open:
            corpus_panels.upload_control()
    corpus_panels.measured()

try:
    own = corpus_panels.texts(typed)
    model_control.kind_of(model, ONE_TEXT)  # one that is not taken is refused before it is loaded
    table = work.result_of(MetricsJob(model, own), st.empty())
except AttnvizError as problem:
    page.error(problem)
    st.stop()

dark = st.context.theme.type == "dark"
if there := figures.measured(table, metric):
    bars, grid = st.columns([3, 2])
    with bars:
        page.chart(
            figures.bars_chart(table, metric, dark=dark),
            f"Bars with error lines: the twelve heads with the largest mean; "
            f"{figures.TITLES[metric]}.",
        )
    with grid:
        page.chart(
            figures.grid_chart(table, metric, dark=dark),
            "Grid of all heads, layers down, heads across; the colour is the mean over the texts.",
        )
st.text(figures.sentence(table, metric, len(own)))
page.caution("head_role", "texts_unit")

section = controls.section(
    {
        "removals": "Without the head",
        "numbers": "Numbers and files",
        "lesson": "How it is measured",
        "code": "Code",
    }
)
if section == "removals":
    corpus_panels.removals(model, own)
if section == "numbers":
    if there:
        st.dataframe(figures.of_metric(table, metric), hide_index=True)
    corpus_panels.files(table, f"attnviz-texts-{model.stem}")
if section == "lesson":
    page.lesson("many_texts")
if section == "code":
    corpus_panels.code(model)

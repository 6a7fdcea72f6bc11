"""Inspect a model: every head of a loaded model on the visitor's own text."""

import streamlit as st

from attnviz.components.explorer import explorer
from attnviz.errors import AttnvizError
from attnviz.figures import capture as figures
from attnviz.figures import numbers as exports
from attnviz.jobs import CaptureJob
from attnviz.models import catalog
from attnviz.ui import controls, page, selection, work

OTHER = "other"
SENTENCE = "The keys to the cabinet are on the table, because the cat sat on the mat."

page.head(
    "Which words does each head of this model read?",
    "Type a text: every square is one head's map, the large one is exact. Rows ask, columns "
    "answer; each row shares out one unit of attention.",
)

left, right = st.columns([1, 2])
with left:
    titles = {entry.name: entry.title for entry in catalog.bundled()} | {
        OTHER: "Another model: Hub id or folder"
    }
    name = controls.pick("Model", list(titles), key="model", show=lambda word: titles[word])
    if name == OTHER:
        name = controls.line(
            "Hub id or local folder",
            key="id",
            placeholder="organisation/model",
            help="Weights as safetensors only; code that comes with a model is never run.",
        ).strip()
with right:
    text = controls.text("Text", key="text", default=SENTENCE)

try:
    capture = work.result_of(CaptureJob(name, text))
except AttnvizError as problem:
    page.error(problem)
    st.stop()

default = figures.default_head(capture)
chosen = selection.current(
    "inspect",
    layers=figures.layers(capture),
    n_heads=figures.n_heads(capture),
    default=default,
    panel="weights",
)
start = 0
if capture.n_tokens > figures.LONGEST_SIDE:
    start = controls.ladder(
        "First token of the large map",
        figures.windows(capture.n_tokens),
        key="start",
        default=0,
        help=f"The large map shows {figures.LONGEST_SIDE} tokens at a time, each weight exact.",
    )
figure = figures.capture_figure(capture, chosen.layer, chosen.head, start=start)
chosen = explorer(figure, key="inspect", selection=chosen)
selection.keep(chosen, default=default)
page.caution("not_explanation", "head_role")

following, heads, files, about = st.tabs(
    ["What comes next", "All heads as a table", "Numbers out", "How far to trust this"]
)
with following:
    predicted = capture.next_tokens(10)
    if predicted is None:
        st.markdown(
            "This model is an encoder: it reads in both directions and predicts no next token."
        )
    else:
        st.markdown("The ten most probable next tokens after the text, by this same run.")
        st.dataframe(
            predicted,
            hide_index=True,
            column_config={
                "probability": st.column_config.ProgressColumn(format="%.4f", max_value=1.0)
            },
        )
with heads:
    table = capture.metrics()

    def pick_row() -> None:
        for row in st.session_state["heads_table"].selection.rows:
            selection.choose("inspect", int(table["layer"][row]), int(table["head"][row]))

    st.dataframe(
        table,
        hide_index=True,
        key="heads_table",
        on_select=pick_row,
        selection_mode="single-row",
        column_config={
            word: st.column_config.NumberColumn(title, format="%.4f")
            for word, title in figures.METRICS.items()
        },
    )
    st.markdown("Sort by a column; choose a row to see that head above.")
with files:
    stem = f"{figure.file_stem}_layer{chosen.layer}_head{chosen.head}"
    st.download_button(
        "This head's exact map (NPZ)",
        data=lambda: exports.to_npz(capture, chosen.layer, chosen.head),
        file_name=f"{stem}.npz",
        on_click="ignore",
    )
    st.download_button(
        "This head's exact map (CSV)",
        data=lambda: exports.to_csv(capture, chosen.layer, chosen.head),
        file_name=f"{stem}.csv",
        on_click="ignore",
    )
    st.download_button(
        "The table of all heads (CSV)",
        data=lambda: table.to_csv(index=False),
        file_name=f"{figure.file_stem}_heads.csv",
        on_click="ignore",
    )
    st.markdown("The picture itself: the menu above the map saves it as PNG or SVG.")
with about:
    st.markdown(capture.check.sentence)
    for note in capture.notes:
        st.text(note)

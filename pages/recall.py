"""Recall: what mixers remember, measured without any training; and what trained stacks do."""

import streamlit as st

from attnviz.errors import AttnvizError
from attnviz.figures import recall as figures
from attnviz.figures.spreadsheet import csv_of
from attnviz.recall.measure import RecallJob
from attnviz.ui import controls, page, recall_panels, work
from attnviz.ui.folded import Folded

page.head(
    "What does a memory of fixed size forget?",
    "Store keys with values, then ask for every key: softmax keeps all of them, a state must make "
    "do with its size.",
)

with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
    d = controls.ladder(
        "d: a state has d × d numbers", (16, 32, 64, 128), key="d_state", default=64
    )
    decay = controls.ladder(
        "α: what a gated state keeps at each write",
        (0.9, 0.95, 0.98, 0.99, 0.995, 0.999, 1.0),
        key="alpha",
        default=0.95,
    )
    writes = controls.segment(
        "Writes of each overwritten key", [1, 2, 4, 8], key="writes", default=4
    )
    with Folded("Softmax and seeds"):
        scale = controls.ladder(
            "Logit scale of softmax",
            (1.0, 4.0, 8.0, 16.0, 32.0, 64.0),
            key="logits",
            default=32.0,
            help="The cosine of query and key is multiplied by it.",
        )
        seeds = controls.number("Seeds", 1, 20, key="seeds", default=5)
        first = controls.number("First seed", 0, 9999, key="seed", default=0)

job = RecallJob(d, seeds, writes, logit_scale=scale, decay=decay, first_seed=first)
try:
    table = work.result_of(job, st.empty())
except AttnvizError as problem:
    page.error(problem)
    st.stop()

summed = figures.summary(table)
dark = st.context.theme.type == "dark"
for column, task in zip(st.columns(2), figures.TITLES, strict=True):
    with column:
        page.chart(
            figures.recall_chart(summed, task, dark=dark),
            f"Lines: relative error of each mechanism against the number of keys; "
            f"{figures.TITLES[task].lower()}.",
        )
st.markdown(figures.reading(summed))
page.caution("untrained")

section = controls.section(
    {
        "lesson": "How it is measured",
        "trained": "Trained hybrids",
        "numbers": "Numbers and files",
        "code": "Code",
    }
)
if section == "trained":
    recall_panels.trained()
if section == "lesson":
    page.lesson("recall")
if section == "numbers":
    st.dataframe(summed, hide_index=True)
    st.download_button(
        "Every seed (CSV)",
        csv_of(table),
        f"attnviz-recall-{d}.csv",
        "text/csv",
        on_click="ignore",
    )
if section == "code":
    st.code(
        f"from attnviz.recall.measure import RecallJob\n\n"
        f"job = {job!r}\n"
        f"table = job.run(lambda fraction, text: print(text))\n"
        f'print(table.groupby(["task", "mechanism", "keys"]).error.mean())\n',
        wrap_lines=True,
    )

"""Two texts, two models: the same head twice, and which heads changed most."""

import streamlit as st

from attnviz.components.explorer import explorer
from attnviz.errors import AttnvizError
from attnviz.ui import compare_models_panels as panels
from attnviz.ui import controls, page, selection, work

page.head(
    "Same model, other words: which heads changed?",
    "Two texts, models or checkpoints: tokens are paired, and each head's two maps subtracted. "
    "Point at a cell in one map to find it in all.",
)

jobs = panels.runs()
try:
    found, job = panels.compared(jobs)
    changes = work.result_of(job, st.empty()) if found.ranked else None
    chosen, heads = panels.heads(found, changes)
    figure = panels.figure(found, heads, changes, job)
except AttnvizError as problem:
    page.error(problem)
    st.stop()

chosen = explorer(figure, key=panels.KEY, selection=chosen)
if changes is not None:
    selection.keep(chosen, default=panels.most_changed(changes))
page.plain("\n".join([*found.sentences, panels.NOT_RENORMALISED]))
page.caution("not_explanation", "head_role", *(["effective_map"] if found.signed else []))

section = controls.section(
    {
        "heads": "Heads that changed most",
        "pairs": "Pairs of tokens",
        "files": "Numbers out",
        "lesson": "How it is measured",
        "code": "Code",
    }
)
if section == "heads":
    panels.table(found, changes)
if section == "pairs":
    panels.pairs(found)
if section == "files":
    panels.files(found, changes, heads)
if section == "lesson":
    page.lesson("compare_models")
if section == "code":
    st.code(panels.whole_code(found, job, heads), wrap_lines=True)

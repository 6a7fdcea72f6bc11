"""Masks: choose and join masks, and see what they hide and what that changes."""

import streamlit as st

import attnviz as av
from attnviz.components.explorer import explorer
from attnviz.errors import AttnvizError
from attnviz.figures import conventions, empty_rows
from attnviz.figures import masks as figures
from attnviz.ui import controls, page, selection
from attnviz.ui.mask_controls import mask_controls

WIDTH = 16  # channels: few enough to draw each

page.head(
    "Which words may a word look at?",
    "A mask decides which query (row) may read which key (column); the weight of hidden keys goes "
    "to the others.",
)
choices = mask_controls()

try:
    with page.loading():
        inputs = choices.source.inputs(WIDTH)
        mask = choices.mask(inputs.length)
        seed = choices.source.seed
        unmasked = av.run("scaled_dot_product", inputs, seed=seed)
        masked = av.run("scaled_dot_product", inputs, mask=mask, seed=seed, empty_rows="zero")
except AttnvizError as problem:
    page.error(problem)
    st.stop()

chosen = selection.current("masks", layers=(0,), n_heads=1, default=(0, 0), panel="weights")
code = figures.mask_code(choices.source.code(WIDTH), mask, seed)
figure = figures.mask_figure(unmasked, masked, code)
chosen = explorer(figure, key="masks", selection=chosen)
selection.keep(chosen, default=(0, 0))
st.markdown(figures.mask_summary(unmasked, masked))
page.caution("random_weights", "not_explanation")

section = controls.section(
    {
        "formula": "Formula and sources",
        "seen": "Keys seen",
        "conventions": "Other conventions",
        "empty": "A query with no key",
        "code": "Code",
    }
)
if section == "seen":
    page.chart(
        figures.keys_seen_chart(masked),
        "Bars: for each query, the number of keys that the mask lets it see.",
    )
if section == "conventions":
    st.markdown(
        "One mask, written as each library wants it. The wrong polarity raises no error: it "
        "computes something else."
    )
    shown = conventions.conventions(masked)
    for row in (shown[:3], shown[3:]):
        for column, convention in zip(st.columns(3), row, strict=False):
            with column:
                if convention.chart is None:
                    st.markdown(f"**{convention.name}**  \n{convention.problem}")
                else:
                    page.chart(convention.chart, f"The mask as a table: {convention.name}.")
                st.markdown(f"Taken by: {convention.taken_by}")
if section == "empty":
    query = empty_rows.empty_query(masked, chosen.row)
    st.markdown(
        f"All keys hidden from query {query}, and every convention really run. A softmax over "
        f"no keys is 0/0: the answer is each library's own choice."
    )
    runs = empty_rows.run_empty_row(inputs, masked, query)
    st.dataframe(runs.table, hide_index=True)
    st.markdown("The error of attnviz says:")
    page.plain(runs.error)
if section == "formula":
    page.lesson("masks")
    page.notes(inputs.notes)
if section == "code":
    st.code(code, wrap_lines=True)

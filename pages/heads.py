"""Heads: multi-head, grouped-query and multi-query attention on the same input."""

from functools import partial

import streamlit as st

import attnviz as av
from attnviz.components.explorer import explorer
from attnviz.errors import AttnvizError
from attnviz.figures import head_costs
from attnviz.figures import heads as figures
from attnviz.ui import controls, lecture, page, selection
from attnviz.ui.folded import Folded
from attnviz.ui.own_input import own_input

WIDTH = 64

page.head(
    "Does every head need keys and values of its own?",
    "From keys and values for each query head (MHA), through one set a group (GQA), to one for "
    "all (MQA).",
)

with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
    n_heads = controls.segment("Query heads", [2, 4, 8, 16], key="heads", default=8)
    n_kv_heads = controls.ladder(
        "Key/value heads",
        figures.divisors(n_heads),
        key="kv",
        default=2,
        help="Only numbers that divide the query heads: every key/value head serves equally many.",
    )
    lecture.mask_key("causal", off=False, on=True)
    masked = controls.toggle("Causal mask", key="causal", default=True)
    with Folded("Text and seed"):
        source = own_input("The keys to the cabinet are on the table")

try:
    with page.loading():
        inputs = source.inputs(WIDTH)
        run = partial(
            av.run,
            "grouped_query",
            inputs,
            n_heads=n_heads,
            mask=av.masks.causal() if masked else None,
            seed=source.seed,
        )
        trace = run(n_kv_heads=n_kv_heads)
except AttnvizError as problem:
    page.error(problem)
    st.stop()

page.chart(
    figures.sharing_chart(n_heads, n_kv_heads),
    f"{n_heads} query heads joined by lines to the key/value heads that they read.",
)
chosen = selection.current(
    "heads_map", layers=(0,), n_heads=n_heads, default=(0, 0), panel="weights"
)
code = figures.heads_code(source.code(WIDTH), trace)
figure = figures.heads_figure(trace, chosen.head, code)
chosen = explorer(figure, key="heads_map", selection=chosen)
selection.keep(chosen, default=(0, 0))
st.markdown(figures.reading(trace, chosen.head))
page.caution("random_weights", "head_role")

section = controls.section(
    {
        "formula": "Formula and sources",
        "costs": "Parameters and cache",
        "alike": "How alike heads are",
        "code": "Code",
    }
)
if section == "costs":
    others = [run(n_kv_heads=kv) for kv in (n_heads, 1)]
    table = head_costs.costs([others[0], trace, others[1]])
    for column, chart in zip(st.columns(2), head_costs.cost_charts(table, trace), strict=True):
        with column:
            page.chart(chart, "Bars: what each arrangement costs.")
    page.caution("equal_cache", "no_ranking")
    st.markdown(head_costs.formulas(trace))
if section == "alike":
    explorer(figures.similarity_figure(trace), key="similarity")
    st.markdown(
        "Heads of one group read the same keys (cosine 1), and still look elsewhere: their "
        "queries differ."
    )
    page.caution("random_weights")
if section == "formula":
    page.lesson("heads")
    page.notes(inputs.notes)
if section == "code":
    st.code(code, wrap_lines=True)

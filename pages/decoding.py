"""Decoding: a real model writes with its cache and without, and the cache is tampered with."""

import streamlit as st

from attnviz.components.explorer import explorer
from attnviz.errors import AttnvizError
from attnviz.ui import controls, page, selection, work

MODEL = "smollm2-135m"
TEXT = "The cat sat on the mat. The dog sat on the"

page.head(
    "Why can a model write on without reading everything again?",
    "The keys and values of a token depend on nothing after it, so they are kept. SmolLM2 writes "
    "the same text twice, with its cache and without; the map grows by a row a token.",
)
with page.loading():
    from attnviz.decoding import jobs
    from attnviz.figures import decoding as figures
    from attnviz.ui import decoding_panels as panels

left, right = st.columns([3, 1])
with left:
    text = controls.text("Text", key="text", default=TEXT, height=68)
with right:
    count = controls.number("Tokens to write", 1, 64, key="n", default=16)

try:
    made = work.result_of(jobs.Write(MODEL, text, count), st.empty(), panels.live)
    default = (8, 1)
    layers, n_heads = made.maps.shape[:2]
    chosen = selection.current(
        "decoding", layers=range(layers), n_heads=n_heads, default=default, panel="weights"
    )
    figure = figures.map_figure(made, chosen.layer or 0, chosen.head or 0)
    chosen = explorer(figure, key="decoding", selection=chosen)
    selection.keep(chosen, default=default)
    section = controls.section(
        {
            "times": "Time and bytes",
            "passes": "Parallel or step by step",
            "reuse": "Why it may be reused",
            "evict": "Forgetting",
            "share": "What sharing costs",
            "lesson": "Lesson",
        }
    )
    if section == "times":
        panels.written(made)
    if section == "passes":
        panels.passes(MODEL, made.text)
    if section == "reuse":
        panels.reuse(MODEL, text, made.prompt)
    if section == "evict":
        panels.eviction(MODEL, made.text, layers, made.kv_heads)
    if section == "share":
        panels.sharing(MODEL, made.text)
    if section == "lesson":
        page.lesson("decoding")
except AttnvizError as problem:
    page.error(problem)

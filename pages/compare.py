"""Compare: two or three variants on the same input, with the same seed."""

import streamlit as st

from attnviz.components.explorer import explorer
from attnviz.errors import AttnvizError
from attnviz.figures.compare import compare_figure
from attnviz.ui import compare_panels, controls, page

page.head(
    "Same words, same seed: what does another mechanism do?",
    "Maps on one scale, and what one has that the other has not. Point at a cell in one map to "
    "find it in all.",
)

try:
    with page.loading():
        choices = compare_panels.compare_controls()
        compared = compare_panels.run(choices)
except AttnvizError as problem:
    page.error(problem)
    st.stop()

traces = compared.traces
explorer(compare_figure(traces, choices.head, compared.code), key="compare")
page.plain(compare_panels.where(compared))
kinds = {trace.weights_kind for trace in traces.values()}
page.caution("random_weights", *(["effective_map"] if "effective" in kinds else []))

section = controls.section({"distance": "How far apart", "cost": "Cost", "code": "Code"})
if section == "distance":
    compare_panels.distance(traces)
if section == "cost":
    compare_panels.cost(compared)
if section == "code":
    st.code(compared.code, wrap_lines=True)

"""What Inspect a model shows of all heads at once, and its maps weighed by values."""

from __future__ import annotations

from typing import Any

import streamlit as st

from attnviz.components.explorer import explorer
from attnviz.errors import AttnvizError
from attnviz.figures import structure as figures
from attnviz.figures.capture_axes import cols_of, rows_of
from attnviz.figures.figure import Selection
from attnviz.jobs import CaptureJob
from attnviz.map_jobs import ChainsJob, LikenessJob, ValueJob
from attnviz.metrics.rollout import FLOW_TOKENS
from attnviz.ui import controls, page, selection, work

TABS = {"alike": "How alike are the heads?", "chains": "Through all layers"}
"""The sections below, of softmax layers."""


def tabs(shown: Any) -> dict[str, str]:
    """Those of TABS that these maps can fill: two heads to compare, a text that reads itself."""
    fits = {
        "alike": sum(layer.n_heads for layer in shown.captured) > 1,
        "chains": shown.keys is None,
    }
    return {name: title for name, title in TABS.items() if fits[name]}


FORMULA = (
    "Each layer counts as $A_l = \\tfrac{1}{2} W_l + \\tfrac{1}{2} I$: the mean of its heads and, "
    "for the residual, the token itself. Rollout is the product $A_l A_{l-1} \\cdots A_1$; flow is "
    "the largest flow from a token to an input token, with these weights as capacities."
)
FEW_LAYERS = 6
WEIGHED = {"weights": "Weights", "norms": "Value-weighted"}


def weighed(job: CaptureJob, shown: Any) -> tuple[CaptureJob | ValueJob, Any]:
    """(the job, its maps) as the reader wants them: of weights, or of what they bring.

    Of linear and state-space layers there is no choice: their maps hold all that they do. Of a
    model that sees, values are not read.
    """
    if shown.signed or shown.image is not None:
        return job, shown
    word = controls.segment(
        "A cell shows",
        list(WEIGHED),
        key="cells",
        show=WEIGHED.__getitem__,
        help="A weight says how much of a token is read; value-weighted, how long the vector is "
        "that it brings: a large weight on a vector near zero brings nothing.",
    )
    if word == "weights":
        return job, shown
    wanted = ValueJob(job, shown.group)
    try:
        return wanted, work.result_of(wanted)
    except AttnvizError as problem:
        page.error(problem)
        return job, shown


def alike(job: CaptureJob | ValueJob, capture: Any, shown: Any, chosen: Selection) -> None:
    """All heads by how alike their maps are: distances in clustering order, and a plane."""
    try:
        found = work.result_of(LikenessJob(_reading(job), shown.group))
    except AttnvizError as problem:
        page.error(problem)
        return
    st.markdown(
        "The distance of two heads: the square root of the mean Jensen-Shannon divergence of their "
        "rows of weights, in bits (Endres and Schindelin 2003). Choose a point to see its head "
        "above."
    )

    def choose() -> None:
        for point in st.session_state["plane"].selection.get("point", []):
            selection.choose("inspect", int(point["layer"]), int(point["head"]))

    left, right = st.columns(2)
    with left:
        pair = explorer(figures.distances_figure(found, capture.model_name), key="distances")
        st.text(figures.pair_sentence(found, pair.row, pair.col))
    with right:
        metrics = capture.of(shown.group).metrics().dropna(axis="columns", how="all")
        colour = controls.pick(
            "Colour of a point",
            [word for word in figures.COLOURS if word in metrics],
            key="point",
            show=figures.COLOURS.__getitem__,
        )
        spec = figures.plane_chart(
            found,
            metrics,
            colour,
            (chosen.layer or 0, chosen.head or 0),
            dark=st.context.theme.type == "dark",
        )
        words = f"Plane of all {len(found.places)} heads, alike ones close together."
        page.chart(spec, words, key="plane", on_select=choose)
        st.text(figures.plane_sentence(found))
    page.caution("not_explanation")


def chained(job: CaptureJob | ValueJob, capture: Any, shown: Any) -> None:
    """Attention through all layers at once: rollout, and of a short text flow."""
    try:
        found = work.result_of(ChainsJob(_reading(job), shown.group))
    except AttnvizError as problem:
        page.error(problem)
        return
    st.markdown(FORMULA)
    layer = first = found.layers[:FEW_LAYERS][-1]  # far up a deep stack one column is left
    if len(found.layers) > 1:
        layer = controls.ladder("Rollout up to layer", found.layers, key="upto", default=first)
    part = capture.of(shown.group)
    axes = rows_of(part, "token of the last layer"), cols_of(part, "token of the input")
    explorer(figures.chains_figure(found, layer, axes, capture.model_name), key="chains")
    st.text(figures.rows_sentence(found, layer, part.tokens))
    if found.flow is None:
        st.text(f"Attention flow is computed on at most {FLOW_TOKENS} tokens; this text is longer.")
    if shown.group == "decoder" and "cross" in capture.groups:
        st.text(
            "The decoder's layers read the encoder's tokens, too (the stack cross): that part is "
            "not in these chains."
        )
    page.caution("rollout", "not_explanation")


def _reading(job: CaptureJob | ValueJob) -> CaptureJob:
    return job.reading if isinstance(job, ValueJob) else job

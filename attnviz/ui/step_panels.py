"""What Step by step shows: its figure, one cell's arithmetic, curves, a soft dictionary."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import streamlit as st

from attnviz.components.explorer import explorer
from attnviz.components.explorer.selection import read
from attnviz.errors import AttnvizError
from attnviz.figures import saturation
from attnviz.figures.figure import Selection
from attnviz.figures.step_words import title
from attnviz.figures.steps import cell_index, first_cell, steps_figure, steps_snippet
from attnviz.ui import address, controls, page, selection

if TYPE_CHECKING:
    import attnviz as av

TEMPERATURES = (0.001, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
NUMBERS = {
    "variance": "Variance of the scores",
    "largest": "Largest weight of a row, mean",
    "entropy": "Entropy of a row, mean (nats)",
    "gradient": "‖∂weights/∂scores‖, mean",
}


def explorer_of(trace: av.Trace, code: str) -> Selection:
    """Draw every matrix, and return the chosen cell: the reader's, the link's, or a first one.

    code: Python that computes the trace.
    """
    first = first_cell(trace)
    chosen = selection.current("steps", layers=(0,), n_heads=1, default=(0, 0), panel="weights")
    if chosen.row is None and read(st.session_state.get("steps")) is None:
        chosen = replace(first, look=chosen.look)  # nobody has pointed at anything yet
    figure = replace(steps_figure(trace), snippet=steps_snippet(code))
    chosen = explorer(figure, key="steps", selection=chosen)
    # A link need not hold the cell that is told anyway; the only head has no number here.
    bare = chosen == replace(first, layer=chosen.layer, head=chosen.head, look=chosen.look)
    selection.keep(Selection(0, 0, look=chosen.look) if bare else chosen, default=(0, 0))
    address.write("panel", None if bare else chosen.panel)
    return chosen


def arithmetic(trace: av.Trace, chosen: Selection, head: int = 0) -> None:
    """The formula of the chosen cell with its own numbers, or how to choose one."""
    if chosen.panel is None or chosen.row is None or chosen.col is None:
        st.markdown("Click any cell above: its arithmetic appears here.")
        return
    if chosen.panel not in trace.names:
        st.markdown(
            f"**{title(chosen.panel, trace.variant)}**: a weight. A model learns it; here it is "
            f"drawn at random, fixed by the seed."
        )
        return
    from attnviz.variants.arithmetic import explain

    place = cell_index(trace, chosen.panel, chosen.row, chosen.col, head=head)
    told = explain(trace, chosen.panel, place)
    st.text(told.sentence)  # it names tokens: plain text
    st.markdown(f"${told.latex}$")


def scaling(trace: av.Trace) -> None:
    """This run's four numbers, and their curves against d_k."""
    from attnviz.metrics import softmax

    d_k, divided = trace.dimensions["head_dim"], "√" in scaled_how(trace)
    st.markdown(
        f"**In the run above** (d_k = {d_k}, {scaled_how(trace)}), as the scores enter softmax:"
    )
    try:
        numbers = softmax.spread_of(trace)
    except AttnvizError as nothing:
        page.plain(str(nothing))
    else:
        for column, (word, title) in zip(st.columns(4), NUMBERS.items(), strict=True):
            column.metric(title, f"{numbers[word]:.3g}")
    st.markdown(
        f"**In general**, for random queries and keys whose components have variance 1 "
        f"({softmax.QUERIES} queries, {softmax.KEYS} keys, computed here): a score is a sum of d_k "
        f"products, so its variance is d_k. Large scores make softmax choose one key, and where "
        f"it has chosen, no score can change its weight any more."
    )
    curves = softmax.curves()
    for pair in (saturation.CURVES[:2], saturation.CURVES[2:]):
        for column, curve in zip(st.columns(2), pair, strict=True):
            with column:
                spec = saturation.saturation_chart(curves, curve, d_k, dark=_dark())
                page.chart(spec, curve.alt)
    if not divided:
        st.markdown("Switch **Divide by √d_k** on and compare the four numbers.")


def scaled_how(trace: av.Trace) -> str:
    """ "divided by √d_k", or not, and the temperature where there is one."""
    d_k, temperature = trace.dimensions["head_dim"], float(trace.options["temperature"])
    divided = abs(float(trace.options["scale"]) * temperature * d_k**0.5 - 1) < 1e-9
    words = "divided by √d_k" if divided and d_k > 1 else "not divided"
    return words if temperature == 1 else f"{words}, temperature {temperature:g}"


def soft_dictionary() -> None:
    """Look a word up among four: exact at temperature 0, and an answer even to a stranger."""
    from attnviz.metrics.soft_dictionary import LEGS, look_up_word

    st.markdown(
        "A dictionary compares a **query** with its **keys** and returns a **value**. Attention "
        "does the same softly: every value, in proportion to how well its key fits. Here keys are "
        "animals, values are their numbers of legs, and a fit is the cosine of SmolLM2's own "
        "embeddings."
    )
    left, right = st.columns([1, 2], gap="large")
    with left:
        word = controls.line("Word to look up", key="word", default="dog")
        temperature = controls.ladder(
            "Temperature", TEMPERATURES, key="heat", default=0.1, show=lambda value: f"{value:g}"
        )
        found = look_up_word(word, LEGS, temperature)
        names = list(LEGS)
        st.metric("Answer (legs)", f"{float(found.answer):.3f}")
        st.metric("Best key alone (legs)", f"{float(found.exact):g}")
        known = word.strip() in LEGS
        page.plain(
            f"“{word.strip()}” is {'one of the keys' if known else 'not among the keys'}; "
            f"“{names[found.best]}” fits it best."
        )
    with right:
        page.chart(
            saturation.shares_chart(
                names,
                list(LEGS.values()),
                found.fits.tolist(),
                found.weights.tolist(),
                dark=_dark(),
            ),
            "Bars: the weight of each entry of the dictionary in the answer.",
        )
    st.markdown(
        "Towards temperature 0 the best key takes everything: for a word that is there, the exact "
        "lookup. A word that is *not* there still gets an answer, mixed from the keys it "
        "resembles, where an ordinary dictionary would refuse. Attention cannot refuse: each row "
        "of weights must add up to 1."
    )


def _dark() -> bool:
    return st.context.theme.type == "dark"

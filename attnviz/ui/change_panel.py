"""The part of the page on interventions that makes changes: one list of them, one result."""

from __future__ import annotations

import streamlit as st

from attnviz.errors import AttnvizError
from attnviz.figures import interventions as figures
from attnviz.interventions import written
from attnviz.interventions.edits import Edit
from attnviz.interventions.jobs import ChangeJob, SweepJob
from attnviz.ui import controls, page, work
from attnviz.ui.folded import Folded

NEXT = 8
"""Next tokens that are listed."""


def change(job: SweepJob, suggested: str) -> None:
    """Every change that is written here holds at once; the model's answer before and after."""
    try:
        edits = _edits(suggested)
        found = work.result_of(ChangeJob(job.model, job.text, edits, job.target))
    except AttnvizError as problem:
        page.error(problem)
        return
    st.text("\n".join(f"{place}. {edit}" for place, edit in enumerate(edits, 1)) or "No change.")
    st.text(figures.change_sentence(found))
    dark = st.context.theme.type == "dark"
    if not found.predicts:
        page.chart(
            figures.moved_chart(found, dark=dark),
            "Bars: how far the output states moved, of the tokens that moved most.",
        )
        return
    table = found.next_tokens(NEXT)
    page.chart(
        figures.next_chart(table, dark=dark),
        "Bars: probabilities of the next tokens that moved most, before and after the change.",
    )
    st.dataframe(table, hide_index=True)


def _edits(suggested: str) -> tuple[Edit, ...]:
    """What the controls say, all kinds in one list. AttnvizError for what is none."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        heads = controls.line(
            "Heads to remove, as layer.head", key="heads", default=suggested, placeholder="17.3"
        )
        by = controls.segment(
            "Put in their place",
            ["zero", "mean"],
            key="by",
            show={"zero": "nothing", "mean": "their mean over the text"}.__getitem__,
        )
        hidden = controls.line(
            "Tokens hidden from all others", key="hide", placeholder="positions: 2, 3"
        )
        with Folded("Scale, hide pairs, patch", key="changes"):
            scaled = controls.line(
                "Heads to scale", key="scale", placeholder="17.3 x 2, 16.0 x 0.5"
            )
            pairs = controls.line(
                "Pairs to hide, as query>key",
                key="edges",
                placeholder="9>3, 9>4 in 17.3",
                help="The query may not read the key, in all heads or only in those named.",
            )
            patched = controls.line("Heads to patch", key="patch", placeholder="17.3, 16.0")
            other = controls.line(
                "from this other text",
                key="other",
                help="The heads get the outputs that they have on it, position by position: it "
                "must have as many tokens as the text above.",
            )
    return (
        *written.parse_heads(heads, by),
        *written.parse_scales(scaled),
        *written.parse_patches(patched, other),
        *written.parse_tokens(hidden),
        *written.parse_edges(pairs),
    )

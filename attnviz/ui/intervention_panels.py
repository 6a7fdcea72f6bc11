"""What the page on interventions shows below its picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from attnviz.errors import AttnvizError
from attnviz.figures.spreadsheet import csv_of
from attnviz.interventions.jobs import LogitJob, ProbeJob, SweepJob
from attnviz.jobs import CaptureJob
from attnviz.metrics.patterns import pattern_scores
from attnviz.metrics.ranking import which_heads
from attnviz.ui import controls, page, work

if TYPE_CHECKING:
    from attnviz.interventions.sweeping import Sweep

ASSUMPTIONS = (
    "Only what a head writes straight into the last position is counted, not what later layers "
    "make of it.",
    "The last norm's scale is that of this run, held fixed, so that the parts add up.",
    "The numbers are parts of one logit; what matters to a probability is its distance from the "
    "other logits.",
)


def cell(job: SweepJob) -> None:
    """Rank all heads by their weight from one token to another."""
    try:
        capture = work.result_of(CaptureJob(job.model, job.text))
    except AttnvizError as problem:
        page.error(problem)
        return
    last = capture.n_tokens - 1
    labels = [f"{place}  {token}" for place, token in enumerate(capture.tokens)]
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        query = controls.pick(
            "From (query)", list(range(last + 1)), key="q", default=last, show=labels.__getitem__
        )
        key = controls.pick(
            "To (key)", list(range(last + 1)), key="k", default=0, show=labels.__getitem__
        )
    st.dataframe(which_heads(capture, query, key), hide_index=True, height=320)
    page.caution("not_explanation", "head_role")


def patterns(job: SweepJob) -> None:
    """Duplicate-token and induction scores, on the text and on the standard probe."""
    try:
        own = pattern_scores(work.result_of(CaptureJob(job.model, job.text)))
        probe = work.result_of(ProbeJob(job.model))
    except AttnvizError as problem:
        page.error(problem)
        return
    st.markdown(
        "**Induction**: weight, from a token that stood earlier, on the token after that earlier "
        "one. **Duplicate**: on the earlier one itself. The probe is 32 random tokens, twice."
    )
    for title, table in (("The probe", probe), ("Your text", own)):
        st.markdown(f"**{title}**")
        order = table.sort_values("induction", ascending=False, na_position="last")
        st.dataframe(order, hide_index=True, height=240)
    page.caution("head_role")


def attribution(job: SweepJob) -> None:
    """What each head writes straight into the followed token's logit."""
    try:
        found = work.result_of(LogitJob(job.model, job.text, job.word))
    except AttnvizError as problem:
        page.error(problem)
        return
    st.text(
        f"Logit of {found.token!r}: {found.logit:.3f}, of which heads wrote "
        f"{found.logit - found.rest:+.3f}; the rest is the embedding's, the MLPs' and biases'."
    )
    page.notes(ASSUMPTIONS)
    st.dataframe(found.table(), hide_index=True, height=320)


def numbers(job: SweepJob, swept: Sweep) -> None:
    """Every head's numbers, in sight and as a file."""
    table = swept.table()
    st.dataframe(table, hide_index=True)
    st.download_button(
        "All removals (CSV)",
        csv_of(table),
        f"attnviz-sweep-{job.model.stem}.csv",
        "text/csv",
        on_click="ignore",
    )

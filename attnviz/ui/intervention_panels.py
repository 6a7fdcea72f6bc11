"""What the page on interventions shows below its picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from attnviz.errors import AttnvizError
from attnviz.figures import interventions as figures
from attnviz.interventions.edits import Edit, HideToken
from attnviz.interventions.jobs import ChangeJob, LogitJob, ProbeJob, SweepJob, parse_heads
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


def change(job: SweepJob, suggested: str) -> None:
    """Remove chosen heads and hide tokens; the prediction before and after."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        words = controls.line(
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
    try:
        edits: list[Edit] = [*parse_heads(words, by), *_positions(hidden)]
        found = work.result_of(ChangeJob(job.model, job.text, tuple(edits)))
    except AttnvizError as problem:
        page.error(problem)
        return
    st.text("; ".join(map(str, edits)) if edits else "Nothing is changed.")
    st.text(figures.change_sentence(found))
    table = found.next_tokens(8)
    page.chart(
        figures.moved_chart(table, dark=st.context.theme.type == "dark"),
        "Bars: probabilities of the next tokens that moved most, before and after the change.",
    )
    st.dataframe(table, hide_index=True)


def _positions(words: str) -> list[HideToken]:
    parts = [part for part in words.replace(",", " ").split() if part]
    for part in parts:
        if not (part.isascii() and part.isdigit() and len(part) < 7):
            raise AttnvizError(f"Tokens are hidden by position, as in 2, 3; {part[:40]!r} is none.")
    return [HideToken(int(part)) for part in dict.fromkeys(parts)]


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


def numbers(swept: Sweep) -> None:
    """Every head's numbers, in sight and as a file."""
    table = swept.table()
    st.dataframe(table, hide_index=True)
    st.download_button(
        "All removals (CSV)",
        table.to_csv(index=False),
        f"attnviz-sweep-{swept.model_name}.csv",
        "text/csv",
        on_click="ignore",
    )


def code(job: SweepJob, heads: str) -> None:
    """The same in a notebook."""
    st.code(
        "import attnviz as av\n"
        "from attnviz.interventions import Knockout, intervene, sweep\n"
        "from attnviz.interventions.jobs import parse_heads\n\n"
        f"model = av.load_model({job.model!r})\n"
        f"text = {job.text!r}\n"
        "print(sweep(model, text).table().head())\n"
        f"found = intervene(model, text, parse_heads({heads!r}))\n"
        "print(found.loss())\n"
        "print(found.next_tokens(5))\n",
        wrap_lines=True,
    )

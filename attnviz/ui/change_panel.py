"""The part of the page on interventions that makes changes: one list of them, one result."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from attnviz.errors import AttnvizError
from attnviz.figures import interventions as figures
from attnviz.interventions import written
from attnviz.interventions.edits import Edit
from attnviz.interventions.jobs import ChangeJob, SweepJob
from attnviz.ui import controls, page, work
from attnviz.ui.folded import Folded

if TYPE_CHECKING:
    from attnviz.interventions.sweeping import Sweep

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
    return _read(heads, by, scaled, patched, other, hidden, pairs)


def in_address(suggested: str) -> tuple[Edit, ...]:
    """The changes as the address has them, where their controls are not in sight."""
    said = st.query_params
    words = (said.get(key, "") for key in ("scale", "patch", "other", "hide", "edges"))
    try:
        return _read(said.get("heads", suggested), said.get("by", "zero"), *words)
    except AttnvizError:  # told where it can be changed
        return written.parse_heads(suggested)


def _read(
    heads: str, by: str, scaled: str, patched: str, other: str, hidden: str, pairs: str
) -> tuple[Edit, ...]:
    return (
        *written.parse_heads(heads, by),
        *written.parse_scales(scaled),
        *written.parse_patches(patched, other),
        *written.parse_tokens(hidden),
        *written.parse_edges(pairs),
    )


def code(job: SweepJob, swept: Sweep, suggested: str) -> None:
    """The same in a notebook."""
    edits = in_address(suggested)
    names = sorted({type(edit).__name__ for edit in edits})
    more = f", token_id={swept.token_id}" if job.word else ""
    target = f", target={job.target!r}" if job.target else ""
    listed = "".join(f"    {edit!r},\n" for edit in edits)
    st.code(
        "import attnviz as av\n"
        f"from attnviz.interventions import {', '.join([*names, 'intervene', 'sweep'])}\n\n"
        f"model = {job.model.code}\n"
        f"text = {job.text!r}\n"
        f"print(sweep(model, text{more}{target}).table().head())\n"
        f"edits = [\n{listed}]\n"
        f"found = intervene(model, text, edits{target})\n"
        "print(found.moved())  # how far each token's output moved\n"
        "if found.predicts:\n"
        "    print(found.loss())\n"
        "    print(found.next_tokens(5))\n",
        wrap_lines=True,
    )

"""What the Variants page shows below its picture: steps, the state in time, cost, sources."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from attnviz.components.explorer import explorer
from attnviz.figures.maps import map_word
from attnviz.figures.state import state_figure
from attnviz.figures.steps import steps_figure, steps_table
from attnviz.ui import address, controls, lessons, page, step_panels
from attnviz.ui.variant_controls import Choices, Run, run

if TYPE_CHECKING:
    import attnviz as av
    from attnviz.variants import Variant


def opening(variant: Variant) -> tuple[str, str]:
    """The question and the sentence under it: the lesson's, or what the registry knows."""
    if lessons.there_is(variant.name):
        lesson = lessons.read(variant.name)
        if lesson.question:
            return lesson.question, lesson.sentence
    return variant.title, f"{variant.source}."


def cautions(trace: av.Trace) -> list[str]:
    """What a reader of this map would otherwise over-read."""
    if trace.weights_kind == "softmax":
        return ["random_weights", "not_explanation"]
    erased = ["erased_later"] if "erased" in trace.names else []
    return ["random_weights", "effective_map", *erased]


def steps(trace: av.Trace, head: int) -> None:
    """Every step as a picture, and the arithmetic of the cell that the reader clicks."""
    st.markdown(
        f"Every step of {map_word(trace)} {head}, in order. Click a cell for its arithmetic."
    )
    chosen = explorer(steps_figure(trace, head=head), key="variant_steps")
    with st.container(border=True, key="step_arithmetic", gap="xsmall"):
        step_panels.arithmetic(trace, chosen, head)


def state(trace: av.Trace, head: int) -> None:
    """The state before and after one token, what changed, and the gates over time."""
    length = len(trace.key_tokens)
    token = length - 1
    if length > 1:
        token = controls.ladder("Token", range(length), key="t", default=length - 1, show=str)
    page.plain(f"Token {token} ({trace.key_tokens[token]}), head {head}")
    explorer(state_figure(trace, token, head), key="variant_state")
    st.markdown(
        "The five pictures share one scale: **kept − erased + written = after**. A row is a key "
        "channel, a column a value channel; the state never grows, however long the text."
    )


def formulas(run: Run) -> None:
    """Each step's formula with the shapes of this run, and how the inputs were made."""
    st.markdown(steps_table(run.trace))
    page.notes(run.notes)


def cost(choices: Choices, trace: av.Trace) -> None:
    """Operations and bytes of this very run, with their formulas."""
    from attnviz.cost.counts import bill, counted

    rows = [
        f"| {line.what} | {_latex(line.formula)} | {_latex(line.worked)} | {line.amount:,} "
        f"{line.unit} |"
        for line in bill(trace)
    ]
    if trace.state is None:
        total = counted(lambda: run(choices).trace)
        rows.append(f"| All matrix products, as PyTorch counts them | | | {total:,} operations |")
    st.markdown("\n".join(["| What | Formula | This run | Amount |", "|---|---|---|---:|", *rows]))
    st.markdown(
        f"Counted from this run's tensors ({trace.dtype}). An operation is one multiplication or "
        f"addition; exponentials and divisions are not counted, and cells that a mask hides are."
    )
    page.caution("no_ranking")


def _latex(formula: str) -> str:
    return f"${formula}$" if formula else ""


def code(run: Run) -> None:
    """Python that makes the run, and the source of the functions that made it."""
    from attnviz.variants import source

    st.markdown("Python that computes the numbers above:")
    st.code(run.code, wrap_lines=True)
    st.markdown("The functions that computed them, as they ran:")
    st.code(source(run.trace.variant), wrap_lines=True)


def lesson(variant: Variant) -> None:
    """The lesson, or at least where the variant comes from."""
    if lessons.there_is(variant.name):
        page.lesson(variant.name)
    else:
        st.markdown(f"**Source.** {variant.source}.")


SECTIONS = {
    "lesson": "Lesson and sources",
    "steps": "Step by step",
    "state": "State over time",
    "decoding": "Two ways to decode",
    "formulas": "Formulas and shapes",
    "cost": "Cost",
    "code": "Code",
}


def sections_of(variant: Variant) -> dict[str, str]:
    """Some parts are about a state, or a latent, that not every variant has."""
    without = set()
    if variant.recurrence is None:
        without.add("state")
        address.write("t", None)
    if variant.name != "latent":
        without.add("decoding")
        address.write("cached", None)
    return {word: title for word, title in SECTIONS.items() if word not in without}

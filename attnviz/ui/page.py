"""The frame that all pages share: a question, cautions, errors as sentences."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Literal
from zlib import crc32

import streamlit as st

from attnviz.errors import AttnvizError
from attnviz.figures.vega import Spec
from attnviz.ui import lessons

_STYLE = Path(__file__).with_name("page.css")

LARGEST_SENT = 2**53
"""Browsers count exactly up to here, and Streamlit sends 64 bits; a cache may take more bytes."""

CAUTIONS = {
    "not_explanation": "A large weight is not proof of a grammatical relation, nor an explanation "
    "of the model's decision: it says where a head read from, not what it did with it.",
    "head_role": "That a head “does” something is an illustration of what it often does here, "
    "not a role the model assigned to it.",
    "random_weights": "The projections here are random, not trained: the picture shows the "
    "mechanism, not what a model has learned.",
    "equal_cache": "Equal cache is not equal quality: fewer bytes say nothing about what a model "
    "loses or keeps.",
    "no_ranking": "No table here is a universal ranking of speed: bytes are one part of it.",
    "effective_map": "An effective map is signed and need not add up to 1: read it as how much of "
    "each value the output holds.",
    "erased_later": "A column also depends on later tokens: what they erased from the state is "
    "taken off the cells of their rows.",
    "removed": "A removed head leaves a hole that the model never met in training: harm shows that "
    "the prediction uses it here, not that the head does this alone; others may step in for it.",
    "texts_unit": "The errors hold for texts like these: lines chosen by hand are no sample of all "
    "texts, and the largest of many means would be smaller on others.",
    "rollout": "Rollout and flow chain weights alone (Abnar and Zuidema 2020): values, projections "
    "and MLPs are left out, so they are an approximation of where information may come from.",
    "untrained": "Nothing here is trained: random keys and fixed gates show the mechanics of "
    "storing, not what a model makes of them.",
    "measured_here": "Measured on this machine, now: another device, library or neighbour gives "
    "other numbers. The slopes travel farther than the times.",
    "mla_not_gqa": "MLA is not GQA with a smaller number of groups: each head still gets its own "
    "keys and values, rebuilt from the shared latent.",
}
"""One plain line each, shown beside the figure that a reader would otherwise over-read."""


def head(question: str, sentence: str) -> None:
    """Open a page with its one question and one sentence. Our own words only, never a visitor's."""
    st.html(_STYLE)  # style alone: it takes no place on the page
    st.title(question, anchor=False)
    st.markdown(sentence)


def loading() -> AbstractContextManager[None]:
    """Say that libraries are loading, the first time only: a spinner that nobody sees costs too."""
    if "torch" in sys.modules:
        return nullcontext()
    return st.spinner("Loading PyTorch and the tokenizer")


def notes(sentences: Iterable[str]) -> None:
    """Our own remarks on how something was made, as one list."""
    st.markdown("\n".join(f"- {sentence}" for sentence in sentences))


def caution(*keys: str) -> None:
    """Say, in small print beside a figure, what it does not show."""
    st.markdown("  \n".join(f":material/info: {CAUTIONS[key]}" for key in keys))


def error(problem: AttnvizError | str) -> None:
    """Show what went wrong and what to change. The sentence may quote the visitor: plain text."""
    with st.container(border=True, key=f"error-{crc32(str(problem).encode())}"):
        st.markdown(":material/error: **This could not be done.**")
        st.text(str(problem))


def lesson(word: str) -> None:
    """The lesson of a concept, from assets/lessons/<word>.md."""
    st.markdown(lessons.markdown(word))


def plain(text: str) -> None:
    """Show a visitor's own words exactly as typed: no markdown, no LaTeX, no HTML."""
    st.text(text)


def chart(
    spec: Spec,
    alt: str,
    width: Literal["stretch", "content"] = "stretch",
    *,
    key: str | None = None,
    on_select: Callable[[], None] | None = None,
) -> None:
    """Draw a chart as wide as its place, or as it says itself; alt is a sentence in its stead.

    on_select is called when a reader chooses in a chart that has a selection of its own, which
    is then st.session_state[key].selection.

    alt becomes part of the spec, so what a control moves is no part of it (figures/vega.py). Of
    the data, what is too large to send whole goes as a float, which it draws.
    """
    import pyarrow as pa

    tables = {
        name: pa.Table.from_pylist(
            [
                {word: float(value) if too_large(value) else value for word, value in row.items()}
                for row in rows
            ]
        )
        for name, rows in spec["datasets"].items()
    }
    st.vega_lite_chart(
        spec=spec | {"datasets": tables},
        width=width,
        alt=alt,
        key=key,
        on_select="ignore" if on_select is None else on_select,
    )


def too_large(value: object) -> bool:
    """Whether a browser would round this whole number."""
    return isinstance(value, int) and value > LARGEST_SENT

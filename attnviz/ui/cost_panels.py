"""What the Cost page asks and shows: which forms, up to which length, and the numbers out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import streamlit as st

from attnviz.cost.measure import LENGTHS, CostJob, fits
from attnviz.figures.cost import MOST
from attnviz.figures.spreadsheet import csv_of
from attnviz.ui import address
from attnviz.ui.folded import made

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "code",
    "fits",
    "form_controls",
    "in_words",
    "kernel_of",
    "known_forms",
    "lengths_to",
    "numbers",
]

FIRST = (
    "multi_head/naive",
    "multi_head/sdpa",
    "multi_head/windowed",
    "linear/chunked",
    "delta_rule/chunked",
)
POINTS = 4
"""Lengths measured: the longest, and its halves."""


def known_forms() -> dict[str, str]:
    """The title of every form that can be measured, by its word."""
    from attnviz.cost.forms import forms

    return {word: form.title for word, form in forms().items()}


def lengths_to(longest: int) -> tuple[int, ...]:
    """The lengths up to this one."""
    return tuple(length for length in LENGTHS if length <= longest)[-POINTS:]


def form_controls(known: Mapping[str, str]) -> tuple[str, ...]:
    """Up to six forms; in the address, their words with commas between."""

    def parse(words: str) -> list[str] | None:
        chosen = [word for word in words.split(",") if word in known]
        return chosen[:MOST] or None

    address.seed("forms", parse, list(FIRST))
    chosen = made(
        "forms",
        lambda: st.multiselect(
            f"Forms (up to {MOST})",
            list(known),
            format_func=known.__getitem__,
            key="forms",
            max_selections=MOST,
        ),
    )
    forms = tuple(word for word in chosen if word in known)[:MOST]
    address.write("forms", None if forms == FIRST else ",".join(forms))
    return forms


def in_words(n_heads: int) -> str:
    """How many heads, in words."""
    return "1 head" if n_heads == 1 else f"{n_heads} heads"


def kernel_of(chosen: str) -> str:
    """Of the app's choice, what the fused forms are timed with; the others are forms themselves."""
    return chosen if chosen in ("flash", "efficient", "cudnn", "math") else "sdpa"


def numbers(table: pd.DataFrame, exponents: pd.DataFrame) -> None:
    """Fitted exponents, every measurement, and a file of them."""
    st.dataframe(
        exponents.drop(columns="form"),
        hide_index=True,
        column_config={
            "title": "Form",
            "time": st.column_config.NumberColumn("Exponent of time", format="%.2f"),
            "cpu": st.column_config.NumberColumn("Exponent of processor time", format="%.2f"),
            "memory": st.column_config.NumberColumn("Exponent of memory", format="%.2f"),
        },
    )
    st.dataframe(table.drop(columns="form"), hide_index=True)
    st.download_button(
        "Every measurement (CSV)",
        csv_of(table),
        "attnviz-cost.csv",
        "text/csv",
        on_click="ignore",
    )


def code(job: CostJob) -> None:
    """Python that measures the same."""
    st.code(
        f"from attnviz.cost.measure import CostJob, fits\n\n"
        f"job = {job!r}\n"
        f"table = job.run(lambda fraction, text: print(text))\n"
        f"print(fits(table))\n",
        wrap_lines=True,
    )

"""The texts of the page on many texts, and what it shows below its picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from attnviz.corpus.jobs import RemovalsJob, TogetherJob, to_parquet
from attnviz.corpus.texts import MOST_BYTES, MOST_TEXTS, Lines, lines_of, read_lines
from attnviz.errors import AttnvizError
from attnviz.figures import corpus as figures
from attnviz.figures.spreadsheet import csv_of
from attnviz.interventions.written import MOST, parse_heads
from attnviz.models.choice import ModelChoice
from attnviz.ui import controls, page, work

if TYPE_CHECKING:
    import pandas as pd

_KEPT = "own_texts"
"""In the session: the name of the file that is measured, and its texts."""
_TAKEN = "own_texts_taken"
"""The upload that was last read, so that putting its texts aside does not take them again."""


def upload_control() -> None:
    """Take a file of texts; a bad one is told in a sentence, and what was there before stays.

    It stays too where the uploader holds nothing: one in a button that is opened again begins
    empty. measured() puts it aside.
    """
    given = st.file_uploader(
        f'A .txt (a text a line) or .jsonl ({{"text": ...}} a line) of at most '
        f"{MOST_BYTES // 2**20} MB and {MOST_TEXTS} texts. It stays with this visit.",
        type=["txt", "jsonl"],
        key="texts_file",
        max_upload_size=MOST_BYTES // 2**20,
    )
    if given is None or given.file_id == st.session_state.get(_TAKEN):
        return
    try:
        st.session_state[_KEPT] = (given.name, read_lines(given.name, given.getvalue()))
        st.session_state[_TAKEN] = given.file_id
    except AttnvizError as problem:
        page.error(problem)


def measured() -> None:
    """Say which file is measured in place of the typed lines, and offer to go back to them."""
    kept = st.session_state.get(_KEPT)
    if kept is None:
        return
    name, own = kept
    st.text(
        f"Measured: the file {name}, {figures.counted(len(own))}, not the typed lines. "
        "No link holds it."
    )
    st.button(
        "Use the typed lines instead",
        key="use_typed",
        on_click=lambda: st.session_state.pop(_KEPT, None),
    )


def texts(typed: str) -> Lines:
    """The texts of the file, else those typed, one a line."""
    kept = st.session_state.get(_KEPT)
    return lines_of(typed) if kept is None else kept[1]


def removals(model: ModelChoice, own: Lines) -> None:
    """Remove chosen heads together, or every head in turn, on all texts."""
    heads = controls.line(
        "Heads to remove together, as layer.head",
        key="heads",
        placeholder="1.3, 0.2",
        help=f"At most {MOST}. Left empty, every head is removed in turn.",
    )
    dark = st.context.theme.type == "dark"
    try:
        if parse_heads(heads):
            table = work.result_of(TogetherJob(model, own, heads))
            st.text(figures.change_sentence(table))
            st.dataframe(table, hide_index=True)
        else:
            if not controls.toggle(
                "Remove every head in turn, on every text",
                key="sweep",
                help="Each head costs a pass over each text: it can be stopped.",
            ):
                return
            table = work.result_of(RemovalsJob(model, own))
            metric = next(word for word in figures.REMOVALS if word in set(table["metric"]))
            if figures.measured(table, metric):
                page.chart(
                    figures.bars_chart(table, metric, dark=dark),
                    "Bars: the twelve heads whose removal changes most on the mean, up or down.",
                )
            st.text(figures.sentence(table, metric, len(own)))
    except AttnvizError as problem:
        page.error(problem)
        return
    page.caution("removed")
    files(table, f"attnviz-removals-{model.stem}")


def files(table: pd.DataFrame, stem: str) -> None:
    """The numbers, to take away."""
    with st.container(horizontal=True):
        st.download_button(
            "Numbers (CSV)",
            lambda: csv_of(table),
            f"{stem}.csv",
            "text/csv",
            on_click="ignore",
            key=f"{stem}_csv",
        )
        st.download_button(
            "Numbers (Parquet)",
            lambda: to_parquet(table),
            f"{stem}.parquet",
            on_click="ignore",
            key=f"{stem}_parquet",
        )


def code(model: ModelChoice) -> None:
    """The same in a notebook."""
    st.code(
        "import attnviz as av\n"
        "from attnviz.corpus.measuring import metrics_over, removals_over\n"
        "from attnviz.corpus.texts import read_texts\n\n"
        f"model = {model.code}\n"
        'texts = read_texts("texts.jsonl", open("texts.jsonl", "rb").read())\n'
        "table = metrics_over(model, texts)  # layer, head, metric, mean, sd, se, n\n"
        'print(table[table["metric"] == "induction"].nlargest(5, "mean"))\n'
        "removals_over(model, texts[:10]).to_parquet('removals.parquet')\n",
        wrap_lines=True,
    )

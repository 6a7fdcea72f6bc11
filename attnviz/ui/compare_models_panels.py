"""The page of two runs: which models and texts, which heads, and what stands below the maps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

from attnviz.errors import AttnvizError
from attnviz.figures import compare_models as figures
from attnviz.figures.figure import Figure, Selection
from attnviz.figures.spreadsheet import csv_of
from attnviz.jobs import CaptureJob
from attnviz.map_jobs import CompareJob
from attnviz.models.choice import READERS
from attnviz.ui import controls, model_control, selection, work

if TYPE_CHECKING:
    from attnviz.comparing.changes import Changes
    from attnviz.comparing.comparison import Comparison

Heads = tuple[tuple[int, int], tuple[int, int]]
"""(layer, head) of A and of B."""

KEY = "compare_models"
NOT_RENORMALISED = "Nothing is renormalised: weight on tokens without a partner is not in B − A."
TEXTS = ("The keys to the cabinet are on the table.", "The key to the old cabinet is on the table.")


def runs() -> tuple[CaptureJob, CaptureJob]:
    """Draw the controls of A and of B: a model and a text each."""
    left, right = st.columns(2)
    with left:
        model = model_control.chosen(READERS, side="A")
        text = controls.text("Text A", key="text_a", default=TEXTS[0], height=68)
    with right:
        other = model_control.chosen(READERS, side="B", same=model)
        other_text = controls.text(
            "Text B", key="text_b", default=TEXTS[1], height=68, help="Left empty: the text of A."
        )
    return CaptureJob(model, text), CaptureJob(other, other_text if other_text.strip() else text)


def compared(jobs: tuple[CaptureJob, CaptureJob]) -> tuple[Comparison, CompareJob]:
    """Both captures beside each other, and the job that ranks their heads.

    Raises AttnvizError in a sentence.
    """
    captures = [work.result_of(job, st.empty()) for job in jobs]
    from attnviz.comparing import compare

    groups = captures[0].groups
    group = None
    if len(groups) > 1 and captures[1].groups == groups:
        group = controls.segment("Stack", list(groups), key="group")
    a, b = (capture.of(group) for capture in captures)
    kinds = {
        "softmax": bool(a.captured) and bool(b.captured),
        "effective": None not in (a.effective, b.effective),
    }
    present = [kind for kind, there in kinds.items() if there]
    if not present:
        raise AttnvizError(
            f"{a.model_name} and {b.model_name} have no maps of one kind: softmax weights and "
            "signed effective maps cannot be subtracted."
        )
    kind = present[0]
    if len(present) > 1:
        titles = {"softmax": "Softmax layers", "effective": "Linear and state-space layers"}
        kind = controls.segment("Maps of the", present, key="maps", show=titles.__getitem__)
    effective = kind == "effective"
    found = compare(a.effective, b.effective) if effective else compare(a, b)
    return found, CompareJob(*jobs, group=group, effective=effective)


def heads(found: Comparison, changes: Changes | None) -> tuple[Selection | None, Heads]:
    """The head of A and of B: where every head has its counterpart, that of the explorer's
    selection, which begins with the one that changed most; else one chosen for each."""
    if changes is None:
        with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
            return None, (_head("A", found.a), _head("B", found.b))
    chosen = selection.current(
        KEY,
        layers={layer.index for layer in found.a.captured},
        n_heads=max(layer.n_heads for layer in found.a.captured),
        default=most_changed(changes),
        panel="a",
    )
    head = (chosen.layer or 0, chosen.head or 0)
    return chosen, (head, head)


def most_changed(changes: Changes) -> tuple[int, int]:
    """The (layer, head) of the table's first row."""
    layer, head = changes.table[["layer", "head"]].to_numpy()[0].tolist()
    return layer, head


def _head(word: str, maps: Any) -> tuple[int, int]:
    every = [f"{layer.index}.{head}" for layer in maps.captured for head in range(layer.n_heads)]
    said = controls.pick(f"Head of {word}, as layer.head", every, key=f"head_{word.lower()}")
    layer, head = said.split(".")
    return int(layer), int(head)


def figure(found: Comparison, at: Heads, changes: Changes | None, job: CompareJob) -> Figure:
    """The three maps. The same object while nothing changes, so that nothing is sent again."""
    told = (job, at)
    kept = st.session_state.get(f"{KEY}:figure")
    if kept is None or kept[0] != told:
        code = code_of(found, job)
        made = figures.compare_models_figure(found, *at, changes, code)
        kept = st.session_state[f"{KEY}:figure"] = (told, made)
    return kept[1]


def code_of(found: Comparison, job: CompareJob) -> str:
    """Python for the comparison."""
    given = [
        f"source={side.text!r}" if getattr(maps, "group", "self") != "self" else repr(side.text)
        for side, maps in ((job.a, found.a), (job.b, found.b))
    ]
    models = (job.a.model, job.b.model)
    return figures.compare_models_code(
        models, (given[0], given[1]), job.group, effective=job.effective
    )


def whole_code(found: Comparison, job: CompareJob, at: Heads) -> str:
    """Python that runs as it stands."""
    ranked = "print(found.changes().table.head(10))\n" if found.ranked else ""
    heads = f"{at[0]}" if found.ranked else f"{at[0]}, {at[1]}"
    return f"{code_of(found, job)}{ranked}print(found.difference({heads}))\n"


def table(found: Comparison, changes: Changes | None) -> None:
    """All heads, the most changed first; choosing a row shows that head above."""
    if changes is None:
        st.markdown(
            "Heads are ranked where both models have the same layers and heads and some of their "
            "tokens are paired."
        )
        return
    shown = figures.heads_table(found, changes)
    places = shown[["layer", "head"]].to_numpy().tolist()

    def choose() -> None:
        for row in st.session_state["changed_heads"].selection.rows:
            selection.choose(KEY, *places[row])

    st.markdown("The most changed first; choose a row to see that head above.")
    number = st.column_config.NumberColumn
    st.dataframe(
        shown,
        hide_index=True,
        key="changed_heads",
        on_select=choose,
        selection_mode="single-row",
        column_config={
            "layer": "Layer",
            "head": "Head",
            "distance": number("Distance, 0 to 1", format="%.4f"),
            "moved": number(figures.MOVED, format="%.4f"),
            "query_a": "Most at, in A",
            "query_b": "Most at, in B",
        },
    )


def pairs(found: Comparison) -> None:
    """Which token of A stands for which of B."""
    st.dataframe(
        figures.pairs_table(found),
        hide_index=True,
        column_config={
            "a": "Position in A",
            "token_a": "Token of A",
            "b": "Position in B",
            "token_b": "Token of B",
            "pair": "Pair",
        },
    )


def files(found: Comparison, changes: Changes | None, at: Heads) -> None:
    """Exact numbers to take away; nothing is computed until it is asked for."""
    with st.container(horizontal=True):
        if changes is not None:
            st.download_button(
                "All heads (CSV)",
                data=lambda: csv_of(changes.table),
                file_name="attnviz_changed_heads.csv",
                on_click="ignore",
            )
        st.download_button(
            "B − A of this head (CSV)",
            data=lambda: figures.difference_csv(found, *at),
            file_name="attnviz_difference.csv",
            on_click="ignore",
        )
        st.download_button(
            "Pairs of tokens (CSV)",
            data=lambda: csv_of(figures.pairs_table(found)),
            file_name="attnviz_pairs.csv",
            on_click="ignore",
        )

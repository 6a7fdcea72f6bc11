"""Which heads do this? All heads ranked by their weight on the cell or block kept in the map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from attnviz.errors import AttnvizError
from attnviz.figures.figure import Selection
from attnviz.figures.sinks import with_sinks
from attnviz.jobs import Job
from attnviz.ui import page, selection

if TYPE_CHECKING:
    import pandas as pd

TITLE = "Which heads do this?"
MOST_WEIGHTS = 2**30
"""Weights of all heads together that a visitor waits for: a few seconds' work."""


def which_heads(maps: Any, job: Job, chosen: Selection, key: str) -> None:
    """The ranking of all heads; choosing a row shows that head in the explorer `key`.

    maps are of the job's capture.
    """
    if chosen.row is None or chosen.col is None:
        st.markdown(
            "Click a cell of the map above, and all heads are ranked by their weight there. For a "
            "block of cells, hold Shift and drag, or hold Shift and click the opposite corner; "
            "with the keyboard, Enter at one corner and Shift + Enter at the other. In the "
            "overview of a long text a click takes the block that the cell stands for."
        )
        return
    to = chosen.to or (chosen.row, chosen.col)
    rows, cols = slice(chosen.row, to[0] + 1), slice(chosen.col, to[1] + 1)
    if cols.stop > maps.n_keys:
        maps = with_sinks(maps)
    st.text(described(maps, rows, cols))
    try:
        _require_small(maps, rows, cols)
        with st.spinner("Ranking all heads"):
            table = _ranked(maps, job, rows, cols)
    except AttnvizError as problem:
        page.error(problem)
        return
    most = float(np.abs(table["weight"].to_numpy()).max())
    if most == 0:
        st.markdown(
            "No head has any weight here: the mask forbids these pairs. In a causal model a token "
            "attends to itself and to earlier tokens only, below the diagonal."
        )
        return

    places = table[["layer", "head"]].to_numpy().tolist()
    name = f"which_{rows.start}_{rows.stop}_{cols.start}_{cols.stop}"

    def choose() -> None:
        for row in st.session_state[name].selection.rows:
            selection.choose(key, *places[row])

    word = "Cell" if maps.signed else "Norm" if _norms(maps) else "Weight"
    column = (
        st.column_config.NumberColumn(word, format="%.4f")
        if maps.signed
        else st.column_config.ProgressColumn(word, format="%.4f", max_value=most)
    )
    st.dataframe(
        table,
        hide_index=True,
        key=name,
        on_select=choose,
        selection_mode="single-row",
        height=390,
        column_config={"layer": "Layer", "head": "Head", "weight": column},
    )
    st.markdown("Choose a row to see that head above; the cell stays marked.")


def described(maps: Any, rows: slice, cols: slice) -> str:
    """What is ranked, in a sentence; it quotes the visitor's tokens."""
    keys = getattr(maps, "key_tokens", maps.tokens)
    query, answer = _span(maps.tokens, rows), _span(keys, cols)
    value = "cell, by size" if maps.signed else "norm" if _norms(maps) else "weight"
    if rows.stop - rows.start == 1 and cols.stop - cols.start == 1:
        return f"All heads by their {value}, from query {query} to key {answer}."
    return (
        f"All heads by their mean {value} over a block, from queries {query} to keys {answer}; "
        "masked pairs count as 0."
    )


def _norms(maps: Any) -> bool:
    """Whether these are value-weighted maps, whose cells are norms."""
    return getattr(maps, "scale", "weight") == "magnitude"


def _span(tokens: Any, span: slice) -> str:
    first, last = span.start, span.stop - 1
    end = "" if first == last else f" to {last} “{tokens[last]}”"
    return f"{first} “{tokens[first]}”{end}"


def _require_small(maps: Any, rows: slice, cols: slice) -> None:
    heads = sum(layer.n_heads for layer in maps.captured)
    weights = heads * (rows.stop - rows.start) * (cols.stop - cols.start)
    if weights > MOST_WEIGHTS:
        raise AttnvizError(
            f"This block has {weights:,} weights in {heads:,} heads, more than the "
            f"{MOST_WEIGHTS:,} that a page waits for; choose a smaller one, or call "
            "attnviz.metrics.ranking.which_heads in a notebook."
        )


def _ranked(maps: Any, job: Job, rows: slice, cols: slice) -> pd.DataFrame:
    """The ranking, kept until another cell or another capture is asked about."""
    from attnviz.metrics import ranking

    asked = (job, maps.signed, getattr(maps, "group", ""), rows, cols)
    kept = st.session_state.get("which:ranked")
    if kept is None or kept[0] != asked:
        kept = st.session_state["which:ranked"] = (asked, ranking.which_heads(maps, rows, cols))
    return kept[1]

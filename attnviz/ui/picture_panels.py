"""What the Variants page shows of a run on a picture: one query's weights, laid over it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import streamlit as st

from attnviz.figures.picture import (
    View,
    in_words,
    patches_of_picture,
    rolled_picture,
    weights_over_picture,
)
from attnviz.ui import page, selection

if TYPE_CHECKING:
    import attnviz as av
    from attnviz.figures.figure import Selection

MAP = "variant_map"


def over_picture(trace: av.Trace, view: View, chosen: Selection) -> None:
    """The picture in patches, and the weights of the query that is chosen here or in the map."""
    head, query = chosen.head or 0, _query(trace, view, chosen)
    dark = st.context.theme.type == "dark"
    charts = [
        (
            patches_of_picture(trace, view, query=query, dark=dark),
            "The picture cut into patches; the query's own patch is outlined.",
        ),
        (
            weights_over_picture(trace, view, head=head, query=query, dark=dark),
            "The weights of one query over the picture in grey: a square for each patch.",
        ),
        (
            rolled_picture(trace, view, query=query, dark=dark),
            "The picture rolled by half a window; dashed lines keep apart what only that joined.",
        ),
    ]
    with st.container(horizontal=True, key="over-picture"):
        for spec, alt in charts:
            if spec is not None:
                with st.container(width="content"):
                    page.chart(spec, alt, width="content")
    st.text(in_words(trace, view, head=head, query=query))


def _query(trace: av.Trace, view: View, chosen: Selection) -> int:
    default = 0 if len(trace.query_tokens) != len(trace.key_tokens) else _middle(view)
    return query_slider(trace.query_tokens, chosen, default, MAP)


def query_slider(names: Sequence[str], chosen: Selection, default: int, key: str) -> int:
    """Over the queries of the map in the explorer `key`: a row chosen there moves it, and it that.

    default: the query to begin with.
    """
    row = chosen.row if chosen.panel == "weights" else None
    if row not in range(len(names)):
        row = default
    if len(names) == 1:
        return 0
    st.session_state["query"] = row
    return st.select_slider(
        "Query: whose weights are shown",
        range(len(names)),
        key="query",
        format_func=names.__getitem__,
        on_change=lambda: selection.point(key, st.session_state["query"]),
    )


def _middle(view: View) -> int:
    rows, columns = view.grid
    return rows // 2 * columns + columns // 2

"""What the Variants page shows of a run on a picture: one query's weights, laid over it."""

from __future__ import annotations

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
    """A slider over the queries; a row chosen in the map moves it, and it moves that."""
    n_queries = len(trace.query_tokens)
    row = chosen.row if chosen.panel == "weights" else None
    if row not in range(n_queries):
        row = 0 if n_queries != len(trace.key_tokens) else _middle(view)
    if n_queries == 1:
        return 0
    st.session_state["query"] = row
    return st.select_slider(
        "Query: whose weights are shown",
        range(n_queries),
        key="query",
        format_func=trace.query_tokens.__getitem__,
        on_change=lambda: selection.point(MAP, st.session_state["query"]),
    )


def _middle(view: View) -> int:
    rows, columns = view.grid
    return rows // 2 * columns + columns // 2

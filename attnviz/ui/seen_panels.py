"""What Inspect a model shows of a model that sees: one query's weights, laid over the picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

from attnviz.figures import capture_picture as figures
from attnviz.ui import page
from attnviz.ui.own_picture import uploaded_file
from attnviz.ui.picture_panels import query_slider

if TYPE_CHECKING:
    from attnviz.figures.figure import Selection


def over_picture(capture: Any, chosen: Selection, key: str) -> None:
    """The picture in patches, and the weights of the query chosen here or in the explorer `key`.

    Nothing where the keys are no patches: a detector's queries among themselves, a text.
    """
    view = figures.view_of(capture)
    if view is None:
        return
    layer, head = chosen.layer or 0, chosen.head or 0
    query = query_slider(capture.tokens, chosen, figures.middle(capture, view), key)
    one = figures.seen(capture, view, layer, head, query)
    dark = st.context.theme.type == "dark"
    charts = (
        (figures.patches_of(one, dark=dark), "The picture that went in, cut into its patches."),
        (
            figures.weights_of(one, dark=dark),
            "The weights of one query over the picture in grey: a square for each patch.",
        ),
    )
    with st.container(horizontal=True, key="over-picture"):
        for spec, alt in charts:
            with st.container(width="content"):
                page.chart(spec, alt, width="content")
    st.text(figures.in_words(one, layer, head))
    if not uploaded_file():
        st.markdown("The picture was drawn here, like those that the model learned from.")

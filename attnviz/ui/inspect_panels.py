"""What Inspect a model shows below its picture: predictions, all heads, files."""

from __future__ import annotations

from typing import Any

import streamlit as st

from attnviz.components.explorer import explorer
from attnviz.figures import numbers
from attnviz.figures.capture_words import titles
from attnviz.figures.spreadsheet import csv_of
from attnviz.figures.strips import strips_figure
from attnviz.ui import controls, examples, metric_panels, selection
from attnviz.ui.own_picture import upload_control

MOST_WRITTEN = 256


def reading(opened: bool, model: str) -> dict[str, Any]:
    """How the text is read, and what else a model may take: CaptureJob's further fields."""
    chat = controls.toggle(
        "Read it as a message to the model",
        key="chat",
        help="Through the model's own chat template; who says each token stands on the axes.",
    )
    target = controls.line(
        "Target of an encoder-decoder",
        key="target",
        help="What it is to write. Left empty, the model writes its own.",
    )
    write = controls.number(
        "Tokens that the model writes on",
        0,
        MOST_WRITTEN,
        key="n",
        default=0,
        help="Always the likeliest, until it ends its answer; its maps are stitched to the text's.",
    )
    if opened:
        upload_control()
    return {"chat": chat, "target": target, "write": write, "picture": examples.picture(model)}


def predictions(capture: Any) -> None:
    """The likeliest next tokens, by the run that the maps come from."""
    predicted = capture.next_tokens(10)
    if predicted is None:
        kind = "is an encoder: it reads in both directions and"
        if capture.image is not None:
            kind = "sees pictures, so it"
        elif "decoder" in capture.groups:
            kind = "reads one text and writes another: what it writes is the decoder's text, and it"
        st.markdown(f"This model {kind} predicts no next token.")
        return
    where = "next tokens after the text"
    if capture.written is not None:
        where = "tokens after the last one that was read, where the model wrote the first of them"
    st.markdown(f"The ten most probable {where}, by this same run.")
    st.dataframe(
        predicted,
        hide_index=True,
        column_config={
            "token": "Token",
            "token_id": "Token id",
            "probability": st.column_config.ProgressColumn(
                "Probability", format="%.4f", max_value=1.0
            ),
        },
    )


def heads(capture: Any, key: str) -> None:
    """Every head with its metrics; choosing a row shows that head in the explorer `key`."""
    table = capture.metrics().dropna(axis="columns", how="all")

    def choose() -> None:
        for row in st.session_state["heads_table"].selection.rows:
            selection.choose(key, int(table["layer"][row]), int(table["head"][row]))

    st.markdown("Sort by a column; choose a row to see that head above.")
    columns = {
        word: st.column_config.NumberColumn(title, format="%.4f")
        for word, title in titles(capture).items()
        if word in table
    }
    st.dataframe(
        table,
        hide_index=True,
        key="heads_table",
        on_select=choose,
        selection_mode="single-row",
        column_config={"layer": "Layer", "head": "Head", **columns},
    )
    metric_panels.definitions(capture, table.columns)


def state(maps: Any, layer: int) -> None:
    """What each head of a linear or state-space layer keeps, writes and holds, token by token."""
    st.markdown(
        "A row a head, a column a token: how much of the state survives the token, how strongly "
        "it writes, and how large the state is afterwards."
    )
    explorer(strips_figure(maps, layer), key="inspect_state")


def files(capture: Any, layer: int, head: int, stem: str) -> None:
    """Exact numbers to take away; nothing is computed until it is asked for."""
    name = f"{stem}_layer{layer}_head{head}"
    with st.container(horizontal=True):
        st.download_button(
            "This head's map (NPZ)",
            data=lambda: numbers.to_npz(capture, layer, head),
            file_name=f"{name}.npz",
            on_click="ignore",
        )
        st.download_button(
            "This head's map (CSV)",
            data=lambda: numbers.to_csv(capture, layer, head),
            file_name=f"{name}.csv",
            on_click="ignore",
        )
        st.download_button(
            "Metrics of all heads (CSV)",
            data=lambda: csv_of(capture.metrics()),
            file_name=f"{stem}_heads.csv",
            on_click="ignore",
        )
    st.markdown(
        "The picture: the Export menu above the map gives PNG, SVG, CSV and NPZ of what it shows."
    )

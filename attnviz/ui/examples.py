"""What a model is given to read until a visitor gives it something: what it was made for."""

from __future__ import annotations

from functools import lru_cache
from io import BytesIO

import streamlit as st

from attnviz.ui import controls
from attnviz.ui.own_picture import uploaded_file

SENTENCE = "The keys to the cabinet are on the table, because the cat sat on the mat."
TEXTS = {"date-translator": "tuesday, march 3rd, 1998"}
"""Of models that read no sentences."""
DRAWN = ("shapes-detr",)
"""Models that know nothing but our own drawings."""
_KEPT = "_example"


def text(model: str) -> str:
    """The text control: the example stands in it, and changes with the model, until one types."""
    example = TEXTS.get(model, SENTENCE)
    before = st.session_state.get(_KEPT, example)
    if before != example and st.session_state.get("text") == before:
        st.session_state["text"] = example
    st.session_state[_KEPT] = example
    return controls.text("Text", key="text", default=example, height=68)


def picture(model: str) -> bytes:
    """The visitor's picture as a PNG file, or a drawn one; empty where there is neither."""
    return uploaded_file() or (_drawn() if model in DRAWN else b"")


@lru_cache(maxsize=1)
def _drawn() -> bytes:
    """A picture like those that shapes-detr learned from."""
    import torch
    from PIL import Image

    from attnviz.models.teaching.shapes import draw

    pixels = draw(torch.Generator().manual_seed(3)).pixels  # (channels, height, width), -1 to 1
    file = BytesIO()
    bytes_of = ((pixels + 1) * 127.5).round().to(torch.uint8).permute(1, 2, 0).numpy()
    Image.fromarray(bytes_of).save(file, format="PNG")
    return file.getvalue()

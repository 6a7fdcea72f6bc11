"""The controls of the masks page: which masks, how they are joined, and on what."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from attnviz.ui import address, controls
from attnviz.ui.folded import Folded
from attnviz.ui.own_input import LONGEST, OwnInput, own_input

MASKS = {
    "causal": "causal",
    "bidirectional": "bidirectional",
    "window": "sliding window",
    "prefix": "prefix",
    "padding": "padding",
}
FIRST = ("causal",)
TEXT = "The cat sat down because the mat was warm"


@dataclass(frozen=True)
class Choices:
    """What the controls ask for, before anything heavy is imported."""

    families: tuple[str, ...]
    join: str
    invert: bool
    window: int  # keys, the query's own included
    prefix: int  # keys
    filler: int  # keys at the end
    source: OwnInput


def mask_controls() -> Choices:
    """Draw the controls: the masks and how they are joined in sight, the rest folded."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        families = _families()
        join = controls.segment(
            "Joined by",
            ["and", "or"],
            key="join",
            help="and: a pair must be allowed by every chosen mask. or: by at least one.",
        )
        invert = controls.toggle(
            "Invert (not)", key="not", help="Allow what is hidden, and hide the rest."
        )
        more = Folded("Text and sizes")
    with more:
        window = controls.number(
            "Window (keys, its own included)", 1, LONGEST, key="window", default=3
        )
        prefix = controls.number("Prefix (keys)", 0, LONGEST, key="prefix", default=2)
        filler = controls.number("Padding (keys at the end)", 0, LONGEST, key="padding", default=2)
        source = own_input(TEXT)
    return Choices(families, join, invert, window, prefix, filler, source)


def _families() -> tuple[str, ...]:
    """Any number of masks; in the address, their words with commas between, "none" for none."""
    address.seed("mask", _parse, list(FIRST))
    if not isinstance(st.session_state["mask"], list):  # another page's control of that name
        st.session_state["mask"] = list(FIRST)
    chosen = st.pills(
        "Masks",
        list(MASKS),
        selection_mode="multi",
        format_func=MASKS.__getitem__,
        key="mask",
        wrap=True,
    )
    families = tuple(word for word in MASKS if word in chosen)
    address.write("mask", None if families == FIRST else ",".join(families) or "none")
    return families


def _parse(words: str) -> list[str] | None:
    if words == "none":
        return []
    chosen = words.split(",")
    return chosen if all(word in MASKS for word in chosen) else None

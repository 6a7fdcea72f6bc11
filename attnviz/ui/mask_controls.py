"""The controls of the masks page: which masks, how they are joined, and on what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from attnviz.ui import address, controls
from attnviz.ui.folded import Folded
from attnviz.ui.own_input import LONGEST, OwnInput, own_input

if TYPE_CHECKING:
    from attnviz.masks import Mask

MASKS = {
    "causal": "causal",
    "bidirectional": "bidirectional",
    "window": "sliding window",
    "dilated": "dilated window",
    "global": "global tokens",
    "block": "blocks",
    "big_bird": "BigBird",
    "documents": "documents",
    "prefix": "prefix",
    "padding": "padding",
}
SIZES = {
    "window": ("Window (keys, its own included)", "window", 1, 3),
    "prefix": ("Prefix (keys)", "prefix", 0, 2),
    "filler": ("Padding (keys at the end)", "padding", 0, 2),
    "dilation": ("Dilation (keys from one to the next)", "dilation", 1, 2),
    "globals": ("Global tokens (at the start)", "globals", 1, 1),
    "block": ("Block (tokens)", "block", 1, 2),
    "random": ("Random blocks (of BigBird)", "random", 0, 1),
    "document": ("Document (tokens)", "document", 1, 4),
}
"""Label, key in the address, least and first value of each number that a mask takes."""
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
    dilation: int  # keys, from one of the window to the next
    globals: int  # tokens, at the start
    block: int  # tokens
    random: int  # blocks for each block of queries
    document: int  # tokens
    source: OwnInput

    def mask(self, n_tokens: int) -> Mask:
        """The mask itself, for a sequence of that many tokens."""
        from attnviz.masks.choice import Sizes, choose

        sizes = Sizes(
            window=self.window,
            prefix=self.prefix,
            length=max(n_tokens - self.filler, 0),
            n_tokens=n_tokens,
            dilation=self.dilation,
            globals=self.globals,
            block=self.block,
            random=self.random,
            document=self.document,
            seed=self.source.seed,
        )
        return choose(self.families, sizes, join=self.join, invert=self.invert)


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
        sizes = {
            word: controls.number(label, low, LONGEST, key=key, default=default)
            for word, (label, key, low, default) in SIZES.items()
        }
        source = own_input(TEXT)
    return Choices(families, join, invert, **sizes, source=source)


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

"""The controls of a hybrid stack, and its run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from attnviz.ui import controls
from attnviz.ui.folded import Folded
from attnviz.ui.own_input import OwnInput, own_input

if TYPE_CHECKING:
    from attnviz.hybrid import Pattern, Stack

WIDTH, N_HEADS = 64, 4
OWN = "own"
TEXT = "The cat sat on the mat because it was warm"


@dataclass(frozen=True)
class Choices:
    """A stack, and what it reads."""

    pattern: Pattern
    source: OwnInput


def hybrid_controls() -> Choices:
    """Draw the controls. Raises AttnvizError where what is written is no stack."""
    from attnviz.hybrid import PRESETS, Pattern, preset
    from attnviz.hybrid.patterns import FULL, linear_mixers
    from attnviz.kv_cache import preset as cache_preset
    from attnviz.variants import find

    titles = {OWN: "Your own"} | {slug: cache_preset(slug).name for slug in PRESETS}
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        with st.container(width=260):
            slug = controls.pick(
                "Order of layers", list(titles), key="stack", show=titles.__getitem__
            )
        written, n_layers, linear, full = "", 8, "", ""
        if slug == OWN:
            with st.container(width=200):
                written = controls.line(
                    "Pattern, repeated",
                    key="pattern",
                    default="3L F",
                    help="L keeps a state, F a cache: 3L F, LLLF, F, 7L F.",
                )
            n_layers = controls.number("Layers", 1, 96, key="n_layers", default=8)
        more = Folded("Mixers, text, seed")
    with more:
        if slug == OWN:
            linear = controls.pick(
                "L layers",
                list(linear_mixers()),
                key="linear",
                default="gated_delta_rule",
                show=lambda word: find(word).title,
            )
            full = controls.pick(
                "F layers", list(FULL), key="full", show=lambda word: find(word).title
            )
        source = own_input(TEXT)
    if slug != OWN:
        return Choices(preset(slug), source)
    return Choices(Pattern.of(written, n_layers=n_layers, linear=linear, full=full), source)


@dataclass(frozen=True)
class StackJob:
    """A run of the stack, for the board: 93 layers take more than a moment."""

    choices: Choices

    def run(self, progress: Callable[[float, str], None]) -> Stack:
        from attnviz.hybrid import run

        pattern, source = self.choices.pattern, self.choices.source
        return run(
            pattern, source.inputs(WIDTH), n_heads=N_HEADS, seed=source.seed, progress=progress
        )

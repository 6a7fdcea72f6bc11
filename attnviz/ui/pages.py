"""The pages there are, in the order of the navigation. Adding one is one line here."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

if TYPE_CHECKING:
    from streamlit.navigation.page import StreamlitPage

_FOLDER = Path(__file__).parents[2] / "pages"


@dataclass(frozen=True)
class Entry:
    """A page: its word (script name and address), its title, and what one finds there."""

    word: str
    title: str
    icon: str
    about: str

    @property
    def script(self) -> str:
        return str(_FOLDER / f"{self.word}.py")

    def page(self) -> StreamlitPage:
        return st.Page(
            self.script,
            title=self.title,
            icon=f":material/{self.icon}:",
            url_path=self.word,
            default=self.word == "home",
        )


PAGES = (
    Entry("home", "Home", "home", "Where everything is."),
    Entry(
        "step_by_step",
        "Step by step",
        "steps",
        "One head, from queries, keys and values to the output; click any cell for its arithmetic.",
    ),
    Entry(
        "masks",
        "Masks",
        "grid_off",
        "Choose and combine masks; see which pairs they allow and what that does to the weights.",
    ),
    Entry(
        "heads",
        "Heads",
        "account_tree",
        "Multi-head, grouped-query and multi-query attention on the same input.",
    ),
    Entry(
        "variants",
        "Variants",
        "hub",
        "Every attention mechanism on your input: its true map, steps, state, cost and code.",
    ),
    Entry(
        "compare",
        "Compare",
        "compare",
        "Two or three mechanisms on the same input: maps, differences, distances, cost.",
    ),
    Entry(
        "recall",
        "Recall",
        "history",
        "What softmax and fixed-size states remember of stored keys, measured.",
    ),
    Entry(
        "hybrid",
        "Hybrid stacks",
        "layers",
        "Layers with a state among layers with a cache: every map, every byte, every step's cost.",
    ),
    Entry(
        "alignment",
        "Alignment",
        "translate",
        "A recurrent translator of dates with attention, and one with a single fixed vector.",
    ),
    Entry(
        "cost",
        "Cost",
        "timer",
        "Time and memory against length, measured on this machine, with fitted exponents.",
    ),
    Entry(
        "inspect_model",
        "Inspect a model",
        "search",
        "Every head of a real language model, on your own text.",
    ),
    Entry(
        "compare_models",
        "Two texts, two models",
        "difference",
        "The same head on two texts, in two models or checkpoints: what moved, and in which heads.",
    ),
    Entry(
        "interventions",
        "Interventions",
        "content_cut",
        "Remove heads of a real model, one or all in turn, and see the prediction move.",
    ),
    Entry(
        "induction",
        "Induction",
        "repeat",
        "A worked example: the two heads with which a small model repeats what it read once.",
    ),
    Entry(
        "many_texts",
        "Many texts",
        "library_books",
        "Heads over a file of texts: means with errors, and what their removal does.",
    ),
    Entry(
        "decoding",
        "Decoding",
        "keyboard_double_arrow_right",
        "A real model writes with its cache and without; edit, evict and share what it keeps.",
    ),
    Entry(
        "kv_cache",
        "KV cache",
        "memory",
        "How many bytes a context costs, for 67 models or a design of your own.",
    ),
)

"""The Compare page: which variants on which input, and what stands below their maps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from inspect import signature
from typing import TYPE_CHECKING, Any

import streamlit as st

from attnviz.figures import compare as figures
from attnviz.ui import computing, controls, page
from attnviz.ui.folded import Folded
from attnviz.ui.own_input import OwnInput, input_kind, own_input
from attnviz.ui.variant_controls import HEADS, TEXT
from attnviz.ui.variant_settings import WIDTH

if TYPE_CHECKING:
    import attnviz as av

NONE = "none"
FIRST = ("multi_head", "linear", "delta_rule")


@dataclass(frozen=True)
class Choices:
    """Which variants, on what, and which head is shown."""

    names: tuple[str, ...]
    source: OwnInput
    n_heads: int
    head: int
    causal: bool


def compare_controls() -> Choices:
    """Draw the controls: the variants in sight, the rest folded."""
    from attnviz.variants import VARIANTS

    def title(word: str) -> str:
        return VARIANTS[word].title if word in VARIANTS else "none"

    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        # What asks by queries of its own has no map of the same rows as the others.
        words = [word for word, variant in VARIANTS.items() if not variant.own_queries]
        first = controls.pick("First", words, key="a", default=FIRST[0], show=title)
        second = controls.pick("Second", words, key="b", default=FIRST[1], show=title)
        third = controls.pick("Third", [NONE, *words], key="c", default=FIRST[2], show=title)
        more = Folded("Text, heads, seed")
    with more:
        n_heads = controls.ladder("Query heads", HEADS, key="n_heads", default=4)
        head = controls.number("Head shown", 0, HEADS[-1] - 1, key="shown", default=0)
        causal = controls.toggle(
            "Causal mask",
            key="causal",
            default=True,
            help="Where a variant takes one: those with a state are causal by themselves.",
        )
        source = own_input(TEXT, input_kind())
    names = tuple(dict.fromkeys(word for word in (first, second, third) if word != NONE))
    return Choices(names, source, n_heads, min(head, n_heads - 1), causal)


@dataclass(frozen=True)
class Comparison:
    """Finished runs by their variant, functions that run them again, and Python for all of it."""

    traces: Mapping[str, av.Trace]
    runs: Mapping[str, Callable[..., av.Trace]]
    code: str
    ran: Mapping[str, str]  # where each, and with which kernel


def run(choices: Choices) -> Comparison:
    """All variants on the same input with the same seed. Raises AttnvizError in a sentence."""
    import attnviz as av
    from attnviz.variants.agreement import agreement

    computed, inputs = computing.chosen(), choices.source.inputs(WIDTH)
    runs, lines = (
        {},
        ["import attnviz as av", "", f"x = {choices.source.code(WIDTH)}", "traces = {}"],
    )
    for name in choices.names:
        variant = av.variants.find(name)
        options: dict[str, Any] = {"seed": choices.source.seed} | computed.options
        if "n_heads" in signature(variant.dimensions).parameters:
            options["n_heads"] = choices.n_heads
        if "n_kv_heads" in signature(variant.dimensions).parameters:
            options["n_kv_heads"] = max(1, choices.n_heads // 2)
        written = {word: repr(value) for word, value in options.items()}
        if variant.causal == "if masked" and choices.causal:
            options["mask"], written["mask"] = av.masks.causal(), "av.masks.causal()"
        runs[name] = partial(av.run, name, inputs, **options)
        given = ", ".join(f"{word}={value}" for word, value in written.items())
        lines.append(f"traces[{name!r}] = av.run({name!r}, x, {given})")
    traces = {name: compute() for name, compute in runs.items()}
    ran = {word: agreement(traces[word], computed.kernel, again) for word, again in runs.items()}
    return Comparison(traces, runs, "\n".join([*lines, ""]), ran)


def where(compared: Comparison) -> str:
    """What ran where: one sentence if it is the same for all, else one for each."""
    said = list(compared.ran.values())
    if len(set(said)) == 1:
        return said[0]
    titles = (figures.title_of(word) for word in compared.ran)
    return "\n".join(f"{title}: {one}" for title, one in zip(titles, said, strict=True))


def distance(traces: Mapping[str, av.Trace]) -> None:
    """How far apart outputs and maps are, as numbers and token by token."""
    table = figures.distances(traces)
    if table.empty:
        page.plain("One variant alone: choose a second one to compare it with.")
        return
    st.dataframe(
        table.drop(columns="by_token"),
        hide_index=True,
        column_config={
            "pair": "Pair",
            "output": st.column_config.NumberColumn("Distance of outputs", format="%.3f"),
            "map": st.column_config.NumberColumn("Mean difference of map cells", format="%.4f"),
            "shared": "Weights that are the same",
        },
    )
    st.markdown(
        "Distance of outputs: the norm of the difference over the mean of the two norms, 0 is "
        "equal and 2 opposite; empty where the outputs have different shapes."
    )
    first = next(iter(traces.values()))
    spec = figures.distance_chart(table, first.query_tokens, dark=st.context.theme.type == "dark")
    page.chart(spec, "Lines: relative distance of the outputs at each token, one for each pair.")


def cost(comparison: Comparison) -> None:
    """Operations, bytes to keep and weights of each."""
    st.dataframe(
        figures.costs(comparison.traces, comparison.runs),
        hide_index=True,
        column_config={
            "variant": "Variant",
            "operations": st.column_config.NumberColumn("Operations", format="localized"),
            "kept": st.column_config.NumberColumn(
                "Bytes to keep while writing on", format="localized"
            ),
            "parameters": st.column_config.NumberColumn("Weights", format="localized"),
        },
    )
    st.markdown(
        "For this very input: multiplications and additions of the run, the cache or state after "
        "the last token, and the numbers in the weight matrices."
    )
    page.caution("equal_cache", "no_ranking")

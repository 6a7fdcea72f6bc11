"""Known figures for the explorer's browser tests: ?case= chooses one.

Run with `streamlit run tests/browser/explorer_app.py`, from any folder.
"""

from __future__ import annotations

import itertools
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st

from attnviz.components.explorer import explorer
from attnviz.errors import AttnvizError
from attnviz.figures import capture as captures
from attnviz.figures.figure import Axis, Figure, Grid, Panel, Selection
from attnviz.figures.parts import Part, Request

sys.path.insert(0, str(Path(__file__).parents[2]))  # for tests.models.made_up

SENTENCE = ["the", "cat", "sat", "on", "the", "mat", "because", "it", "was", "warm", "and", "dry"]


def softmax_map(rows: int, cols: int, seed: int, sharp: float = 2.0) -> np.ndarray:
    scores = np.random.default_rng(seed).normal(size=(rows, cols)) * sharp
    scores[~np.tri(rows, cols, dtype=bool)] = -np.inf
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return (weights / weights.sum(axis=1, keepdims=True)).astype(np.float32)


def future(rows: int, cols: int) -> np.ndarray:
    return ~np.tri(rows, cols, dtype=bool)


def axes(labels: tuple[str, ...], special: tuple[bool, ...] | None = None) -> tuple[Axis, Axis]:
    return (
        Axis("query", "query (attends from)", labels, special=special),
        Axis("key", "key (attends to)", labels, special=special),
    )


def attention(labels: tuple[str, ...], seed: int = 0, **more) -> Panel:
    n = len(labels)
    rows, cols = axes(labels)
    values = softmax_map(n, n, seed)
    return Panel(
        **({"id": "weights", "title": "Attention weights", "subtitle": f"{n} × {n}"} | more),
        values=values,
        rows=rows,
        cols=cols,
        blocked=future(n, n),
    )


def one_head() -> Figure:
    return Figure("One head", "Weights of one head.", (attention(tuple(SENTENCE)),))


def many_tokens(n: int) -> tuple[str, ...]:
    return tuple(SENTENCE[i % len(SENTENCE)] for i in range(n))


@cache
def model(n: int = 64, with_stack: bool = True, chosen: Selection | None = None) -> Figure:
    """A grid as a model of 30 layers and 9 heads on 3 KV heads has it."""
    generator = np.random.default_rng(3)
    n_layers, n_heads = 30, 9
    labels = many_tokens(n)
    distance = np.abs(np.arange(n)[:, None] - np.arange(n)[None, :])
    stack = np.zeros((n_layers, n_heads, n, n), np.float32)
    for layer in range(n_layers):
        for head in range(n_heads):
            scores = generator.normal(size=(n, n)) - distance * generator.choice([0, 0.1, 0.6])
            scores[:, 0] += generator.choice([0, 3, 5])
            scores[future(n, n)] = -np.inf
            weights = np.exp(scores - scores.max(axis=1, keepdims=True))
            stack[layer, head] = weights / weights.sum(axis=1, keepdims=True)
    size = 32
    edges = np.linspace(0, n, size + 1).astype(int)
    pooled = np.stack(
        [stack[..., a : max(b, a + 1), :].max(-2) for a, b in itertools.pairwise(edges)],
        axis=-2,
    )
    thumbnails = np.stack(
        [pooled[..., a : max(b, a + 1)].max(-1) for a, b in itertools.pairwise(edges)],
        axis=-1,
    )
    safe = np.where(stack > 0, stack, 1)
    metrics = {
        "entropy (nats)": -(stack * np.log(safe)).sum(-1).mean(-1).astype(np.float32),
        "attention distance (tokens)": (stack * distance).sum(-1).mean(-1).astype(np.float32),
        "first-token mass": stack[..., 0].mean(-1),
    }
    chosen = chosen or Selection()
    layer, head = chosen.layer or 0, chosen.head or 0
    rows, cols = axes(labels, tuple(i == 0 for i in range(n)))
    panel = Panel(
        id="head",
        title=f"Layer {layer}, head {head}",
        subtitle=f"softmax weights, {n} × {n}",
        values=stack[layer, head],
        rows=rows,
        cols=cols,
        blocked=future(n, n),
    )
    grid = Grid(
        thumbnails=thumbnails.astype(np.float32),
        layers=tuple(range(n_layers)),
        metrics=metrics,
        stack=stack if with_stack else None,
        kv_heads=3,
    )
    return Figure("Model", "All heads of a model.", (panel,), grid, "made up, seed 3", "model")


def weights(layer: int, head: int) -> np.ndarray:
    """One head of that grid."""
    grid = model().grid
    assert grid is not None
    assert grid.stack is not None
    return grid.stack[layer, head]


def long(n: int = 512) -> Figure:
    """The same grid beside a map of n tokens."""
    small = model(64, with_stack=False)
    panel = attention(many_tokens(n), id="head", title="Layer 0, head 0")
    return replace(small, panels=(panel,))


def walk() -> Figure:
    """The steps of one small head."""
    tokens = tuple(["the", "cat", "sat", "on", "the", "mat"])
    generator = np.random.default_rng(1)
    q, k, v = (generator.normal(size=(6, 8)).astype(np.float32) for _ in range(3))
    scores = (q @ k.T).astype(np.float32)
    scaled = scores / np.float32(np.sqrt(8))
    blocked = future(6, 6)
    masked = np.where(blocked, -np.inf, scaled).astype(np.float32)
    weights = np.exp(masked - masked.max(1, keepdims=True))
    weights = (weights / weights.sum(1, keepdims=True)).astype(np.float32)
    query, key = axes(tokens)
    feature = Axis("feature", "feature", tuple(map(str, range(8))))
    across = Axis("feature", "feature", tuple(map(str, range(8))))

    def panel(id: str, title: str, subtitle: str, values, rows, cols, scale="signed", **more):
        return Panel(id, title, values, rows, cols, scale, subtitle=subtitle, **more)

    panels = (
        panel("query", "Query", "Q, 6 × 8", q, query, feature, accent="query"),
        panel("key", "Key", "K, 6 × 8", k, key, feature, accent="key"),
        panel("value", "Value", "V, 6 × 8", v, key, across, accent="value"),
        panel("scores", "Scores", "Q Kᵀ, 6 × 6", scores, query, key, value_name="score"),
        panel("scaled", "Scaled", "Q Kᵀ / √8, 6 × 6", scaled, query, key, value_name="score"),
        panel(
            "masked", "Masked", "keys after the query left out, 6 × 6", masked, query, key,
            accent="mask", blocked=blocked, value_name="score",
        ),
        panel("weights", "Weights", "softmax of each row, 6 × 6", weights, query, key, "weight",
              blocked=blocked),
        panel("output", "Output", "weights · V, 6 × 8", weights @ v, query, feature,
              accent="output"),
    )  # fmt: skip
    return Figure("Walk", "One head, step by step.", panels, settings="seed 1", file_stem="walk")


def chequered() -> Figure:
    """Values, a masked cell and an undefined one at known places; two axes of odd tokens."""
    labels = ("<script>alert(1)</script>", "<s>", "שלום", "the", "the", '="x",1')
    rows, cols = axes(labels, (False, True, False, False, False, False))
    values = (np.arange(36, dtype=np.float32) / 35).reshape(6, 6)
    values[1, 1] = np.nan
    blocked = np.zeros((6, 6), bool)
    blocked[0, 5] = True
    signed = np.linspace(-1, 1, 36, dtype=np.float32).reshape(6, 6)
    return Figure(
        "Known",
        "Known values.",
        (
            Panel("known", "Known weights", values, rows, cols, blocked=blocked),
            Panel("signed", "Known signed values", signed, rows, cols, "signed"),
        ),
        file_stem="known",
    )


HOSTILE = (
    "<img src=x onerror=planted()>",
    "·שלום",
    "·عليكم",
    "e\u0301\u0301\u0301",
    "x" * 200,
    "·the",
    "·the",
    "\u202edesrever",
    "⟨E2 80⟩",
    "<b>",
    "{{7*7}}",
    "⏎",
)


def hostile() -> Figure:
    """Tokens that are anything but words, and two heads on them."""
    n = len(HOSTILE)
    stack = np.stack([softmax_map(n, n, seed) for seed in range(2)])[None]
    panel = attention(HOSTILE, 0, id="weights")
    grid = Grid(thumbnails=stack, layers=(0,), stack=stack)
    return Figure("Hostile", "Hostile tokens.", (panel,), grid)


def sink() -> Figure:
    """Two heads: one leaves 0.65 of every weight on the first token, one spreads evenly."""
    n = len(SENTENCE)
    seen = np.tri(n, dtype=np.float32)
    even = seen / seen.sum(1, keepdims=True)
    parked = even.copy()
    for row in range(1, n):
        parked[row, 0] = 0.65
        parked[row, 1 : row + 1] = 0.35 / row
    stack = np.stack([parked, even])[None]
    panel = attention(tuple(SENTENCE), id="weights", title="Layer 0, head 0", limit=None)
    panel = replace(panel, values=parked)
    return Figure("Sink", "Two heads.", (panel,), Grid(thumbnails=stack, layers=(0,), stack=stack))


def heads() -> Figure:
    """Eight heads of one layer side by side."""
    panels = [
        attention(tuple(SENTENCE), head, id=f"head{head}", title=f"Head {head}", subtitle="")
        for head in range(8)
    ]
    return Figure("Heads", "Eight heads.", tuple(panels))


def sizes() -> Figure:
    """A wide matrix, and one with more cells than a screen has pixels."""
    generator = np.random.default_rng(5)
    query, _ = axes(tuple(SENTENCE))
    feature = Axis("feature", "feature", tuple(map(str, range(64))))
    wide = generator.normal(size=(12, 64)).astype(np.float32)
    long = axes(many_tokens(2048))
    return Figure(
        "Sizes",
        "A wide and a large matrix.",
        (
            Panel("wide", "Query", wide, query, feature, "signed", subtitle="Q, 12 × 64",
                  accent="query"),
            Panel("large", "Large", softmax_map(2048, 2048, 1), *long, blocked=future(2048, 2048)),
        ),
    )  # fmt: skip


@st.cache_resource
def long_capture(n_tokens: int) -> Any:
    from tests.models.made_up import made_up

    return made_up(n_tokens)


@st.cache_resource
def first_figure(n_tokens: int) -> Figure:
    return captures.capture_figure(long_capture(n_tokens), 0, 0)


def draw(case: str) -> None:
    if case == "deep":
        # A text of any length whose heads are asked for, and exact parts of them.
        n_tokens = int(st.query_params.get("n", "1024"))
        capture = long_capture(n_tokens)
        st.session_state["runs"] = st.session_state.get("runs", 0) + 1
        listening = st.toggle("Listen")
        picked = explorer(
            first_figure(n_tokens),
            key="x",
            source=lambda request: captures.part(capture, request),
            quiet=not listening,
        )
        st.text(f"run {st.session_state['runs']}")
    elif case == "refusing":
        capture = long_capture(1024)

        def part(request: Request) -> Part:
            if request.layer != 0:
                raise AttnvizError(f"Expected layer 0, got layer {request.layer}.")
            if request.rows is not None:
                raise AttnvizError("Expected the whole map, got a part of it.")
            return captures.part(capture, request)

        picked = explorer(first_figure(1024), key="x", source=part)
    elif case == "pushed":
        # A script that sets the selection now and then.
        target = st.radio("row", [0, 3, 5], key="target")
        picked = explorer(
            one_head(), key="x", selection=Selection(panel="weights", row=target, col=0)
        )
    elif case == "boxed":
        picked = explorer(walk(), key="x", height=300)
    elif case == "server":
        now = st.session_state.setdefault("now", Selection())
        picked = explorer(model(128, with_stack=False, chosen=now), key="x", selection=now)
        if picked != now:
            st.session_state["now"] = picked
            st.rerun()
    else:
        figures = {
            "head": one_head,
            "model": model,
            "walk": walk,
            "long": long,
            "known": chequered,
            "heads": heads,
            "hostile": hostile,
            "sink": sink,
            "sizes": sizes,
        }
        picked = explorer(figures[case](), key="x")
    st.button("Run again")
    st.text(f"picked {picked}")


if __name__ == "__main__":
    st.set_page_config(layout="wide")
    draw(st.query_params.get("case", "head"))

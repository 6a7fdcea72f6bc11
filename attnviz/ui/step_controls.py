"""The controls of Step by step: what asks, what answers, and how scores become weights."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import streamlit as st

from attnviz.errors import AttnvizError
from attnviz.settings import settings
from attnviz.ui import computing, controls, lecture
from attnviz.ui.folded import Folded

if TYPE_CHECKING:
    import attnviz as av

LONGEST = 64
"""Tokens: every number is drawn, and should be legible."""
SIZES = (1, 2, 4, 8, 16, 32, 64)
TEMPERATURES = (0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 10.0)
TEXT = "The cat sat on the mat"
SECOND_TEXT = "A dog slept"
MASKS = {
    "none": "none",
    "causal": "causal",
    "window": "causal, sliding window",
    "prefix": "causal, open prefix",
    "padding": "padding",
}


@dataclass(frozen=True)
class Choices:
    """What the controls ask for, before anything heavy is imported."""

    text: str | None  # None: random vectors
    second: str | None  # the text that answers; None: self-attention, or random vectors
    cross: bool
    length: int
    second_length: int
    embedding: str
    positions: str
    d_model: int
    head_dim: int
    mask: str
    size: int  # of the window, the prefix or the padding
    scale: bool
    temperature: float
    seed: int


def step_controls() -> Choices:
    """Draw the controls: text, mask and scaling in sight, everything else folded."""
    lecture.mask_key("mask", off="none", on="causal")
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        front = st.container(width="stretch")
        with st.container(width=230):
            mask = controls.pick("Mask", list(MASKS), key="mask", show=lambda word: MASKS[word])
        scale = controls.toggle("Divide by √d_k", key="scale", default=True)
        more = Folded("Input, sizes, temperature")
    with more:
        source = controls.segment(
            "Input", ["text", "random"], key="input", help="A text of yours, or random vectors."
        )
        cross = controls.toggle(
            "Cross-attention",
            key="cross",
            help="Keys and values come from a second sequence, which may have another length.",
        )
        second, length, second_length = None, 0, 0
        if source == "text":
            if cross:
                second = controls.text("Text that answers", key="text2", default=SECOND_TEXT)
            embedding = controls.segment(
                "Embeddings",
                ["random", "model"],
                key="embedding",
                help="random: one vector for each token, no two words related. model: SmolLM2's "
                "own table, where related words are near.",
            )
        else:
            embedding = "random"
            length = controls.number("Tokens", 1, LONGEST, key="length", default=6)
            if cross:
                second_length = controls.number(
                    "Tokens that answer", 1, LONGEST, key="length2", default=4
                )
        positions = controls.segment("Positions", ["none", "sinusoidal", "rotary"], key="positions")
        d_model = controls.ladder("d_model: features of a token", SIZES, key="d", default=8)
        head_dim = controls.ladder("d_k: channels of the head", SIZES, key="dk", default=8)
        temperature = controls.ladder("Temperature", TEMPERATURES, key="temperature", default=1.0)
        size = 2
        if mask in ("window", "prefix", "padding"):
            words = {"window": "Window", "prefix": "Prefix", "padding": "Filler at the end"}
            size = controls.number(f"{words[mask]} (keys)", 1, LONGEST, key=mask, default=2)
        seed = controls.number("Seed", 0, 9999, key="seed", default=0)
    text = None
    if source == "text":
        with front:
            text = controls.text("Text", key="text", default=TEXT, height=68)
    return Choices(
        text=text,
        second=second,
        cross=cross,
        length=length,
        second_length=second_length,
        embedding=embedding,
        positions=positions,
        d_model=d_model,
        head_dim=head_dim,
        mask=mask,
        size=size,
        scale=scale,
        temperature=temperature,
        seed=seed,
    )


@dataclass(frozen=True)
class Run:
    """The trace that the choices lead to, and the Python that leads there too."""

    trace: av.Trace
    notes: tuple[str, ...]  # how the inputs were made
    code: str
    ran: str  # where, and with which kernel


def run(choices: Choices) -> Run:
    """Compute one head. Raises AttnvizError, in a sentence, for an empty or too long text."""
    import attnviz as av
    from attnviz.variants.agreement import agreement

    calls = [_inputs_call(choices, first=True)]
    if choices.cross:
        calls.append(_inputs_call(choices, first=False))
    sides = [getattr(av, function)(*args, **options) for function, args, options in calls]
    n_keys = sides[-1].length
    mask, mask_code = simple_mask(choices.mask, choices.size, n_keys)
    computed = computing.chosen()
    options: dict[str, Any] = {"head_dim": choices.head_dim, "seed": choices.seed}
    options |= computed.options
    if not choices.scale:
        options["scale"] = False
    if choices.temperature != 1:
        options["temperature"] = choices.temperature
    if mask is not None:
        options["empty_rows"] = "zero"
    context = sides[1] if choices.cross else None
    again = partial(av.run, "scaled_dot_product", sides[0], context=context, mask=mask, **options)
    trace = again()
    ran = agreement(trace, computed.kernel, again)
    return Run(trace, sides[0].notes, _code(calls, mask_code, options), ran)


def _inputs_call(choices: Choices, first: bool) -> tuple[str, tuple[Any, ...], dict[str, Any]]:
    text, other = (choices.text, choices.second) if first else (choices.second, choices.text)
    options: dict[str, Any] = {"d_model": choices.d_model, "seed": choices.seed}
    if choices.positions != "none":
        options["positions"] = choices.positions
    if text is None:
        length = choices.length if first else choices.second_length
        if not first:
            options["seed"] += 1  # another sequence, not the beginning of the same
        return "random_inputs", (length,), options
    most = settings().max_characters
    if len(text) > most:
        raise AttnvizError(
            f"The text has {len(text):,} characters and at most {most:,} are read; shorten it."
        )
    if choices.embedding == "model":
        options |= {"embedding": "model"} | ({"beside": other} if other else {})
    return "text_inputs", (text,), options | {"max_tokens": LONGEST}


def simple_mask(word: str, size: int, n_keys: int) -> tuple[Any, str]:
    """The mask of that word of MASKS, and the Python that makes it."""
    from attnviz.masks import causal, padding, prefix, sliding_window

    mask = {
        "none": lambda: None,
        "causal": causal,
        "window": lambda: causal() & sliding_window(size),
        "prefix": lambda: causal() | prefix(size),
        "padding": lambda: padding([max(n_keys - size, 0)]),
    }[word]()
    return mask, re.sub(r"([a-z_]+)\(", r"av.masks.\1(", repr(mask))


def _code(calls: list[Any], mask_code: str, options: dict[str, Any]) -> str:
    lines = ["import attnviz as av"]
    if mask_code != "None":
        options = {"mask": mask_code, **options}
    lines.append("")
    for name, (function, args, given) in zip(("x", "context"), calls, strict=False):
        given = {word: value for word, value in given.items() if word != "max_tokens"}
        words = [repr(arg) for arg in args] + [f"{word}={v!r}" for word, v in given.items()]
        lines.append(f"{name} = av.{function}({', '.join(words)})")
    words = ["context=context"] if len(calls) > 1 else []
    words += [f"{word}={v if word == 'mask' else repr(v)}" for word, v in options.items()]
    lines += [
        f'trace = av.run("scaled_dot_product", x, {", ".join(words)})',
        "for step in trace.steps:",
        "    print(step.name, step.shape)",
        "trace.weights  # (batch, heads, queries, keys)",
    ]
    return "\n".join(lines)


def source(trace: av.Trace) -> str:
    """The source of the functions that computed a trace."""
    from attnviz.variants import source

    return source(trace.variant)

"""The controls for what a variant runs on: the visitor's text or random vectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from attnviz.errors import AttnvizError
from attnviz.settings import settings
from attnviz.ui import controls

if TYPE_CHECKING:
    import attnviz as av

LONGEST = 64
"""Tokens: every pair of them is drawn, and should be legible."""


@dataclass(frozen=True)
class OwnInput:
    """What the controls chose: the inputs, the seed, and the Python that makes the inputs."""

    inputs: av.Inputs
    seed: int  # also for a variant's own weights
    code: str


def own_input(default: str, d_model: int) -> OwnInput:
    """Draw the controls and return what they choose.

    Raises AttnvizError, in a sentence, for an empty or too long text.
    """
    from attnviz.inputs import random_inputs, text_inputs

    source = controls.segment(
        "Input", ["text", "random"], key="input", help="A text of yours, or random vectors."
    )
    if source == "text":
        text = controls.text("Text", key="text", default=default)
        embedding = controls.segment(
            "Embeddings",
            ["random", "model"],
            key="embedding",
            help="random: one vector for each token, no two words related. model: SmolLM2's own "
            "table, where related words are near.",
        )
    else:
        length = controls.number("Tokens", 1, LONGEST, key="length", default=8)
    positions = controls.segment("Positions", ["none", "sinusoidal", "rotary"], key="positions")
    seed = controls.number("Seed", 0, 9999, key="seed", default=0)
    if source == "random":
        options = {"d_model": d_model, "seed": seed, "positions": positions}
        return OwnInput(random_inputs(length, **options), seed, _call("random", length, options))
    if len(text) > settings().max_characters:
        raise AttnvizError(
            f"The text has {len(text):,} characters and at most {settings().max_characters:,} are "
            f"read here; shorten it."
        )
    options = {"d_model": d_model, "seed": seed, "embedding": embedding, "positions": positions}
    inputs = text_inputs(text, max_tokens=LONGEST, **options)
    return OwnInput(inputs, seed, _call("text", text, options))


def _call(kind: str, first: str | int, options: dict[str, str | int]) -> str:
    rest = ", ".join(f"{word}={value!r}" for word, value in options.items())
    return f"av.{kind}_inputs({first!r}, {rest})"

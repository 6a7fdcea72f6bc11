"""The controls for what a variant runs on: a text, random vectors, or a picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from attnviz.errors import AttnvizError
from attnviz.settings import settings
from attnviz.ui import controls
from attnviz.ui.own_picture import KINDS, OwnPicture, own_picture

if TYPE_CHECKING:
    from attnviz.inputs import Inputs

LONGEST = 64
"""Tokens: every pair of them is drawn, and should be legible."""


@dataclass(frozen=True)
class OwnInput:
    """What the controls ask for, before anything heavy is imported."""

    text: str | None  # None: random vectors
    length: int  # of random vectors
    embedding: str
    positions: str
    seed: int  # also for a variant's own weights
    picture: OwnPicture | None = None  # then its patches are the tokens

    def inputs(self, d_model: int) -> Inputs:
        """The inputs themselves. Raises AttnvizError for an empty or too long text."""
        from attnviz.images import image_inputs
        from attnviz.inputs import random_inputs, text_inputs

        if self.picture is not None:
            pixels = self.picture.pixels(self.seed)
            return image_inputs(pixels, self.picture.patch, d_model, self.seed)
        if self.text is None:
            return random_inputs(self.length, **self._options(d_model))
        if len(self.text) > settings().max_characters:
            raise AttnvizError(
                f"The text has {len(self.text):,} characters and at most "
                f"{settings().max_characters:,} are read here; shorten it."
            )
        return text_inputs(self.text, max_tokens=LONGEST, **self._options(d_model))

    def code(self, d_model: int) -> str:
        """The Python that makes the same inputs."""
        if self.picture is not None:
            return (
                f"av.image_inputs({self.picture.code(self.seed)}, patch={self.picture.patch}, "
                f"d_model={d_model}, seed={self.seed})"
            )
        function, first = "text_inputs", repr(self.text)
        if self.text is None:
            function, first = "random_inputs", str(self.length)
        options = (f"{word}={value!r}" for word, value in self._options(d_model).items())
        return f"av.{function}({', '.join([first, *options])})"

    def with_text(self, text: str) -> OwnInput:
        """The same choices with another text."""
        return replace(self, text=text)

    def _options(self, d_model: int) -> dict[str, Any]:
        options = {"d_model": d_model, "seed": self.seed, "positions": self.positions}
        return options if self.text is None else options | {"embedding": self.embedding}


ONLY_TOKENS = ("text", "random")


def input_kind(kinds: Sequence[str] = ONLY_TOKENS, key: str = "input") -> str:
    """What it runs on: the first of the controls, for a page that has it in sight."""
    said = "A text of yours, or random vectors."
    if "shapes" in kinds:
        said += " Shapes: a picture drawn from the seed. Picture: one that you upload."
    return controls.segment("Input", list(kinds), key=key, help=said)


def own_input(default: str, kind: str | None = None) -> OwnInput:
    """Draw the controls and return what they choose; kind, where input_kind() is drawn already."""
    text, length, embedding, positions, picture = None, 0, "random", "none", None
    kind = kind or input_kind()
    if kind in KINDS:
        picture = own_picture(kind)
    elif kind == "text":
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
    if picture is None:
        positions = controls.segment("Positions", ["none", "sinusoidal", "rotary"], key="positions")
    seed = controls.number("Seed", 0, 9999, key="seed", default=0)
    return OwnInput(text, length, embedding, positions, seed, picture)

"""Three ways to count the same cache: the papers', the transformers library's, a serving engine's.

Each says, for one layer and one sequence, which tensors take how many bytes, and what the next
token adds (0 where the layer's part is fixed by now).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

from attnviz.errors import AttnvizError
from attnviz.kv_cache import engine, held
from attnviz.kv_cache.checks import whole
from attnviz.kv_cache.dtypes import bits_of, whole_bytes
from attnviz.kv_cache.engine import Engine
from attnviz.kv_cache.layers import Layer

Tensors = tuple[tuple[str, int], ...]  # name, bytes


@dataclass(frozen=True)
class Theory:
    """The papers' formulas."""

    dtype: str
    state_dtype: str
    name: ClassVar[str] = "theory"

    def tensors(self, layer: Layer, length: int, encoder_length: int) -> Tensors:
        widths = {"cache": bits_of(self.dtype), "state": bits_of(self.state_dtype)}
        return tuple(
            (part.name, whole_bytes(part.elements, widths[part.width]))
            for part in layer.stored(length, encoder_length)
        )

    def held(self, layer: Layer, length: int, encoder_length: int) -> int | None:
        return None

    def growth(self, layer: Layer, length: int) -> int | Fraction:
        if not layer.grows(length):
            return 0
        bits = bits_of(self.dtype)
        return Fraction(bits * sum(part.elements for part in layer.stored(1, 0))) / 8


@dataclass(frozen=True)
class Transformers:
    """What the library keeps; see held.py. decoded: tokens that came after the prompt."""

    dtype: str
    state_dtype: str
    model_type: str | None
    n_heads: int | None
    decoded: int = 0
    name: ClassVar[str] = "transformers"
    theory: Theory = field(init=False, repr=False, compare=False)  # of what is kept

    def __post_init__(self) -> None:
        if self.dtype not in held.DTYPES:
            raise AttnvizError(
                f"transformers keeps a cache in the model's dtype, {', '.join(held.DTYPES)}, not "
                f"{self.dtype}; choose one of these or the theory accounting."
            )
        whole("decoded (tokens after the prompt)", self.decoded, least=0)
        state = self.dtype if self.model_type == "minimax" else self.state_dtype
        object.__setattr__(self, "theory", Theory(self.dtype, state))

    def tensors(self, layer: Layer, length: int, encoder_length: int) -> Tensors:
        return self.theory.tensors(self.kept(layer), length, encoder_length)

    def held(self, layer: Layer, length: int, encoder_length: int) -> int | None:
        alive = self.alive(layer, length)
        return sum(n for _name, n in self.theory.tensors(alive, length, encoder_length))

    def alive(self, layer: Layer, length: int) -> Layer:
        """The layer whose theory is what stays in memory."""
        return held.alive(layer, self.kept(layer), length, self.decoded)

    def growth(self, layer: Layer, length: int) -> int | Fraction:
        return self.theory.growth(self.kept(layer), length)

    def kept(self, layer: Layer) -> Layer:
        return held.as_kept(layer, self.model_type, self.n_heads)


@dataclass(frozen=True)
class Paged:
    """What each GPU of a serving engine holds; see engine.py."""

    dtype: str
    state_dtype: str
    engine: Engine
    name: ClassVar[str] = "engine"

    def __post_init__(self) -> None:
        if self.dtype not in engine.DTYPES:
            raise AttnvizError(
                f"Engines keep a cache in {', '.join(engine.DTYPES)}, not {self.dtype}; choose "
                "one of these or the theory accounting."
            )

    def tensors(self, layer: Layer, length: int, encoder_length: int) -> Tensors:
        pages = self.engine.pages(layer, length, encoder_length)
        page = self.engine.parts(layer, self.dtype, self.state_dtype)
        return tuple((name, pages * size) for name, size in page)

    def held(self, layer: Layer, length: int, encoder_length: int) -> int | None:
        return None

    def growth(self, layer: Layer, length: int) -> int | Fraction:
        return self.engine.growth(layer, length, self.dtype)


Accounting = Theory | Transformers | Paged
ACCOUNTINGS = (Theory.name, Transformers.name, Paged.name)

"""What a variant is, to the registry: its computation, its weights, and the words for its steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from torch import Tensor

from attnviz.trace import Origin, Role
from attnviz.variants.recurrence import Recurrence


@dataclass(frozen=True)
class Setup:
    """The choices of one run that change what is computed or how it is told."""

    dimensions: Mapping[str, int]
    scale: float  # the number that the scores are multiplied by, temperature included
    scaling: str  # LaTeX of the scaled scores S': r"\frac{S}{\sqrt{d_k}}"
    rotary: bool = False
    cross: bool = False
    mask: str = ""  # its name; "" for none
    options: Mapping[str, str] = field(default_factory=dict)  # the variant's own, all of them
    initial_state: Tensor | None = None  # S_0 of a recurrent mixer; None: empty
    grid: tuple[int, int] | None = None  # rows and columns of an image's patches
    empty_rows: str = "error"


@dataclass(frozen=True)
class StepText:
    """How a step is told: everything about it but its numbers."""

    axes: tuple[str, ...]
    role: Role
    symbol: str  # LaTeX
    formula: str  # LaTeX
    note: str
    origin: Origin


Tensors = dict[str, Tensor]


def never(options: Mapping[str, str]) -> bool:
    """Whatever the options."""
    return False


def softmax_working(cells: int, sizes: Mapping[str, int], options: Mapping[str, str]) -> int:
    """The scores without their maximum, and their powers; with a sink, its column joined on."""
    return cells * (2 if options.get("sink", "none") == "none" else 4)


@dataclass(frozen=True)
class Variant:
    """One attention mechanism.

    compute takes (x, context, W, allowed, setup) and returns each step's tensor by its name, in
    order; fused does the same with the fast kernel and leaves out what that never writes down.
    recurrence, which makes a variant a recurrent mixer, takes (steps, W, setup): it rebuilds from
    the steps that compute has returned what drives the state.
    """

    name: str
    title: str
    source: str  # paper, section
    compute: Callable[[Tensor, Tensor, Mapping[str, Tensor], Tensor | None, Setup], Tensors]
    fused: Callable[[Tensor, Tensor, Mapping[str, Tensor], Tensor | None, Setup], Tensors]
    dimensions: Callable[..., dict[str, int]]  # (d_model, **given) -> all of them, checked
    parameters: Callable[[int, int, Mapping[str, int]], Tensors]  # (d_model, seed, dimensions)
    describe: Callable[[Setup], dict[str, StepText]]
    parts: tuple[Callable[..., object], ...] = ()  # what compute calls, in reading order
    fast: str = "sdpa"  # the name of the kernel that fused computes with; "": there is none
    scaled: bool = True  # does scale=True divide by sqrt(d_k)?
    normalised: bool = False  # does the state's last column hold a normaliser?
    options: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # the first is the default
    optional_parameters: (
        Callable[[int, int, Mapping[str, int], Mapping[str, str]], Tensors] | None
    ) = None  # (d_model, seed, dimensions, options): weights that only some options need
    causal: Literal["if masked", "always", "never"] = "if masked"
    working: Callable[[int, Mapping[str, int], Mapping[str, str]], int] = softmax_working
    # (cells of all maps, dimensions, options) -> numbers held beside the steps at the peak
    crosses: bool = True  # may another sequence answer?
    for_pictures: bool = False  # was it made for the patches of an image?
    own_queries: str = ""  # of a variant that asks by itself: what each of n_queries is called
    effective: Callable[[Mapping[str, str]], bool] = never  # of options: is the map no softmax?
    recurrence: Callable[[Mapping[str, Tensor], Mapping[str, Tensor], Setup], Recurrence] | None = (
        None
    )

    def query_tokens(self, tokens: tuple[str, ...], sizes: Mapping[str, int]) -> tuple[str, ...]:
        """What asks: the tokens of the inputs, or queries of the variant's own."""
        if not self.own_queries:
            return tokens
        return tuple(f"{self.own_queries} {place + 1}" for place in range(sizes["n_queries"]))

    def draw(
        self, d_model: int, seed: int, sizes: Mapping[str, int], options: Mapping[str, str]
    ) -> Tensors:
        """All weights of a run, by name, in float64."""
        W = self.parameters(d_model, seed, sizes)
        if self.optional_parameters is None:
            return W
        return W | self.optional_parameters(d_model, seed, sizes, options)

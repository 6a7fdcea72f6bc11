"""What a variant is, to the registry: its computation, its weights, and the words for its steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from torch import Tensor

from attnviz.trace import Origin, Role


@dataclass(frozen=True)
class Setup:
    """The choices of one run that change what is computed or how it is told."""

    dimensions: Mapping[str, int]
    scale: float  # the number that the scores are multiplied by, temperature included
    scaling: str  # LaTeX of the scaled scores S': r"\frac{S}{\sqrt{d_k}}"
    rotary: bool = False
    cross: bool = False
    mask: str = ""  # its name; "" for none


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


@dataclass(frozen=True)
class Variant:
    """One attention mechanism.

    compute takes (x, context, W, allowed, setup) and returns each step's tensor by its name, in
    order; fused does the same with PyTorch's kernel and leaves out what that never writes down.
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

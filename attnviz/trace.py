"""What a variant leaves behind: every intermediate tensor, named, in order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from torch import Tensor

from attnviz.errors import AttnvizError

Role = Literal["input", "query", "key", "value", "scores", "mask", "weights", "output", "other"]
"""What a step's tensor is, so that every figure gives it the same colour and scale."""


@dataclass(frozen=True)
class Step:
    """One tensor of a computation.

    axes names each dimension of the tensor, batch first: ("batch", "head", "query", "key").
    formula is LaTeX; note is one plain sentence on what happened here.
    """

    name: str
    tensor: Tensor
    axes: tuple[str, ...]
    role: Role = "other"
    formula: str = ""
    note: str = ""

    def __post_init__(self) -> None:
        if self.tensor.ndim != len(self.axes):
            raise AttnvizError(
                f"Step {self.name!r} names {len(self.axes)} axes {self.axes} for a tensor of "
                f"shape {tuple(self.tensor.shape)}."
            )

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.tensor.shape)


@dataclass(frozen=True)
class Trace:
    """A finished run of a variant; figures, metrics and exports read it and recompute nothing."""

    variant: str
    steps: tuple[Step, ...]
    output: Tensor  # (B, T_q, d_model)
    weights: Tensor  # (B, H, T_q, T_k)
    weights_kind: Literal["softmax", "effective"] = "softmax"
    allowed: Tensor | None = None  # bool, broadcastable to (B, H, T_q, T_k); None: all allowed
    state: Tensor | None = None  # final state of a recurrent mixer
    query_tokens: tuple[str, ...] = ()
    key_tokens: tuple[str, ...] = ()
    dimensions: Mapping[str, int] = field(default_factory=dict)
    device: str = "cpu"
    dtype: str = "float32"
    kernel: str = "reference"

    def __getitem__(self, name: str) -> Step:
        for step in self.steps:
            if step.name == name:
                return step
        raise AttnvizError(
            f"The trace of {self.variant} has no step {name!r}; it has {', '.join(self.names)}."
        )

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(step.name for step in self.steps)

"""What a variant leaves behind: every intermediate tensor, named, in order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from torch import Tensor

from attnviz.errors import AttnvizError

Role = Literal["input", "query", "key", "value", "scores", "mask", "weights", "output", "other"]
"""What a step's tensor is, so that every figure gives it the same colour and scale."""

Operation = Literal[
    "given",  # came from outside
    "sum",  # A + B
    "product",  # A B
    "split",  # columns dealt out to heads
    "rotary",  # pairs of channels turned by an angle that grows with the position
    "dot",  # A B^T
    "scale",  # A times one number
    "mask",  # -inf where not allowed
    "softmax",  # each row made positive with sum 1
    "mix",  # weights A, rows of B
    "concatenate",  # heads put side by side
    "formula",  # whatever the step's formula says, of more numbers than a line can hold
]


@dataclass(frozen=True)
class Origin:
    """How a step's tensor was made, so that the arithmetic of one cell can be told.

    sources are names of earlier steps or of parameters, in the order of the operation.
    """

    operation: Operation = "given"
    sources: tuple[str, ...] = ()


@dataclass(frozen=True)
class Step:
    """One tensor of a computation.

    axes names each dimension of the tensor, batch first: ("batch", "head", "query", "key").
    symbol and formula are LaTeX; note is one plain sentence on what happened here.
    """

    name: str
    tensor: Tensor
    axes: tuple[str, ...]
    role: Role = "other"
    formula: str = ""
    note: str = ""
    symbol: str = ""
    origin: Origin = field(default_factory=Origin)

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
    parameters: Mapping[str, Tensor] = field(default_factory=dict)  # the variant's own weights
    weights_kind: Literal["softmax", "effective"] = "softmax"
    allowed: Tensor | None = None  # bool, (#B, #H, T_q, T_k); None: all allowed
    state: Tensor | None = None  # final state of a recurrent mixer
    query_tokens: tuple[str, ...] = ()
    key_tokens: tuple[str, ...] = ()
    query_details: tuple[str, ...] = ()  # hover texts, one a token
    key_details: tuple[str, ...] = ()
    dimensions: Mapping[str, int] = field(default_factory=dict)
    options: Mapping[str, int | float | str] = field(
        default_factory=dict
    )  # scale, temperature, mask, ...
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

    @property
    def output(self) -> Tensor:
        """(B, T_q, d_model), or (B, T_q, d_v) where the variant has no output projection."""
        return self["output"].tensor

    @property
    def weights(self) -> Tensor:
        """(B, H, T_q, T_k): softmax weights, or the effective map of a linear mixer.

        Raises AttnvizError after a run with a fused kernel, which never writes them down.
        """
        for step in self.steps:
            if step.name == "weights":
                return step.tensor if step.tensor.ndim == 4 else step.tensor.unsqueeze(1)
        raise AttnvizError(
            f"The kernel {self.kernel!r} computes the output without keeping the weights; run with "
            f"kernel='reference' to see them."
        )

    def tensor(self, name: str) -> Tensor:
        """The tensor of a step, or a parameter, by its name."""
        return self.parameters[name] if name in self.parameters else self[name].tensor

    @property
    def is_cross(self) -> bool:
        """Do keys and values come from another sequence than the queries?"""
        return "context" in self.names

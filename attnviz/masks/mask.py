"""What a mask is, and how masks compose."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Bool
from torch import Tensor

from attnviz.errors import AttnvizError

Align = Literal["start", "end"]
"""Where query 0 sits among the keys when there are fewer queries than keys.

start: at key 0 (PyTorch's is_causal=True). end: the last query at the last key (decoding with a
cache; flash-attention since 2.1).
"""


@dataclass(frozen=True)
class Grid:
    """Every (query, key) pair of one attention map, as index tensors that broadcast."""

    n_queries: int
    n_keys: int
    device: torch.device | None = None

    @property
    def key(self) -> Tensor:
        return torch.arange(self.n_keys, device=self.device)[None, :]  # (1, Tk)

    def query(self, align: Align = "start") -> Tensor:
        offset = self.n_keys - self.n_queries if align == "end" else 0
        return torch.arange(self.n_queries, device=self.device)[:, None] + offset  # (Tq, 1)


@dataclass(frozen=True, repr=False)
class Mask:
    """A predicate (query, key) -> allowed that names itself and composes with &, | and ~.

    A family subclasses this with its parameters as fields, a `name`, and a `rule`. Its repr is
    the Python that builds it.
    """

    @property
    def name(self) -> str:
        """Words that say which mask this is, for titles and legends."""
        raise NotImplementedError

    def rule(self, at: Grid) -> Tensor:
        """Bool tensor that broadcasts to (batch, heads, queries, keys); True: may look."""
        raise NotImplementedError

    def allowed(
        self, n_queries: int, n_keys: int, *, device: torch.device | str | None = None
    ) -> Bool[Tensor, "#batch #heads queries keys"]:
        """The mask as a tensor: always four axes, True = allowed.

        The batch and head axes have length 1 unless the mask differs between examples or heads.
        """
        if n_queries < 1 or n_keys < 1:
            raise AttnvizError(
                f"A mask needs at least one query and one key; received {n_queries} queries and "
                f"{n_keys} keys."
            )
        at = Grid(n_queries, n_keys, torch.device(device) if device is not None else None)
        ruled = self.rule(at)
        while ruled.ndim < 4:
            ruled = ruled[None]
        return ruled.expand(*ruled.shape[:2], n_queries, n_keys)

    def __and__(self, other: Mask | Tensor) -> Mask:
        return And(self, _joinable(other))

    def __or__(self, other: Mask | Tensor) -> Mask:
        return Or(self, _joinable(other))

    def __rand__(self, other: Tensor) -> Mask:
        return And(_joinable(other), self)

    def __ror__(self, other: Tensor) -> Mask:
        return Or(_joinable(other), self)

    def __invert__(self) -> Mask:
        return Not(self)

    def __bool__(self) -> bool:
        # `causal() and padding(...)` would silently drop the first mask.
        raise AttnvizError("Masks are joined with & and |, not with the words and / or.")

    def __str__(self) -> str:
        return self.name


def _joinable(other: object) -> Mask:
    from attnviz.masks.tensor import from_tensor  # it is itself a mask of this module

    if isinstance(other, Mask):
        return other
    if isinstance(other, Tensor):
        return from_tensor(other)
    raise AttnvizError(
        f"A mask is joined with another mask or a boolean tensor; received {type(other).__name__}."
    )


def whole(what: str, value: object) -> int:
    """value as an int, or AttnvizError; what says which number it is."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise AttnvizError(f"{what} must be a whole number; received {value!r}.")
    try:
        return operator.index(value)  # type: ignore[arg-type]  # it has __index__
    except TypeError:  # a tensor of several numbers, or of fractions
        raise AttnvizError(f"{what} must be a whole number; received {value!r}.") from None


def _joined(word: str, parts: tuple[Mask, Mask], same: type[Mask]) -> str:
    names = (
        f"({part.name})" if isinstance(part, And | Or) and not isinstance(part, same) else part.name
        for part in parts
    )
    return f" {word} ".join(names)


def _expression(sign: str, left: Mask, right: Mask) -> str:
    alone = isinstance(left, And | Or) and type(left) is not {"&": And, "|": Or}[sign]
    before = f"({left!r})" if alone else repr(left)
    after = f"({right!r})" if isinstance(right, And | Or) else repr(right)
    return f"{before} {sign} {after}"


def _broadcastable(left: Tensor, right: Tensor, name: str) -> tuple[Tensor, Tensor]:
    try:
        torch.broadcast_shapes(left.shape, right.shape)
    except RuntimeError:
        raise AttnvizError(
            f"The masks of '{name}' do not fit together: their shapes are {tuple(left.shape)} and "
            f"{tuple(right.shape)}; batch and head counts must be equal or 1."
        ) from None
    return left, right


@dataclass(frozen=True, repr=False)
class And(Mask):
    """Allowed where both masks allow."""

    left: Mask
    right: Mask

    def __repr__(self) -> str:
        return _expression("&", self.left, self.right)

    @property
    def name(self) -> str:
        return _joined("and", (self.left, self.right), And)

    def rule(self, at: Grid) -> Tensor:
        left, right = _broadcastable(self.left.rule(at), self.right.rule(at), self.name)
        return left & right


@dataclass(frozen=True, repr=False)
class Or(Mask):
    """Allowed where at least one mask allows."""

    left: Mask
    right: Mask

    def __repr__(self) -> str:
        return _expression("|", self.left, self.right)

    @property
    def name(self) -> str:
        return _joined("or", (self.left, self.right), Or)

    def rule(self, at: Grid) -> Tensor:
        left, right = _broadcastable(self.left.rule(at), self.right.rule(at), self.name)
        return left | right


@dataclass(frozen=True, repr=False)
class Not(Mask):
    """Allowed exactly where the mask blocks."""

    mask: Mask

    def __repr__(self) -> str:
        return f"~({self.mask!r})" if isinstance(self.mask, And | Or) else f"~{self.mask!r}"

    @property
    def name(self) -> str:
        inner = self.mask.name
        return f"not ({inner})" if isinstance(self.mask, And | Or) else f"not {inner}"

    def rule(self, at: Grid) -> Tensor:
        return ~self.mask.rule(at)

"""Sums with numbers in them, written out for a reader: as LaTeX and as plain text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

LONGEST = 8
"""Terms of a sum that are all written; of a longer one, the first six and the last."""


@dataclass(frozen=True)
class Term:
    """A product of factors, or e to the power of the first less the second."""

    factors: tuple[float, ...]
    kind: Literal["product", "power"] = "product"

    @property
    def value(self) -> float:
        if self.kind == "power":
            return math.exp(self.factors[0] - self.factors[1])
        return math.prod(self.factors)

    @property
    def latex(self) -> str:
        if self.kind == "power":
            return f"e^{{{number(self.factors[0])} - {bracketed(self.factors[1])}}}"
        if len(self.factors) == 1:
            return number(self.factors[0])
        return r" \cdot ".join(map(bracketed, self.factors))

    @property
    def text(self) -> str:
        if self.kind == "power":
            return f"e^({plain(self.factors[0])} − {_guarded(self.factors[1])})"
        if len(self.factors) == 1:
            return plain(self.factors[0])
        return " × ".join(map(_guarded, self.factors))


def number(value: float) -> str:
    """LaTeX of a number with three digits or three decimals, whichever says more."""
    return _digits(value, r"{} \times 10^{{{}}}").replace("∞", r"\infty")


def plain(value: float) -> str:
    """The same as plain text."""
    return _digits(value, "{} × 10^{}").replace("-", "−")


def _digits(value: float, scientific: str) -> str:
    if math.isinf(value):
        return "-∞" if value < 0 else "∞"
    size = abs(value)
    if value == 0:
        return "0"
    if 0.1 <= size < 10_000:
        return f"{value:.3f}"
    if 0.001 <= size < 0.1:
        return f"{value:.4f}" if size >= 0.01 else f"{value:.5f}"
    mantissa, exponent = f"{value:.2e}".split("e")
    return scientific.format(mantissa, int(exponent))


def bracketed(value: float) -> str:
    """LaTeX of the number, in brackets where its sign would collide."""
    return f"({number(value)})" if value < 0 else number(value)


def _guarded(value: float) -> str:
    return f"({plain(value)})" if value < 0 else plain(value)


def _shortened(terms: Sequence[Term], latex: bool) -> list[str]:
    words = [term.latex if latex else term.text for term in terms]
    words = [f"({w})" if at and w.startswith(("-", "−")) else w for at, w in enumerate(words)]
    if len(words) <= LONGEST:
        return words
    left_out = len(words) - LONGEST + 1
    gap = rf"\cdots \text{{({left_out} more)}} \cdots" if latex else f"… ({left_out} more) …"
    return [*words[: LONGEST - 2], gap, words[-1]]


def sum_latex(terms: Sequence[Term]) -> str:
    """The terms joined by plus signs."""
    return " + ".join(_shortened(terms, latex=True)) or "0"


def sum_text(terms: Sequence[Term]) -> str:
    """The terms joined by plus signs."""
    return " + ".join(_shortened(terms, latex=False)) or "0"

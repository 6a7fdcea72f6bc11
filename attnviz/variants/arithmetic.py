"""The arithmetic behind one cell of a trace: its formula with the very numbers that made it."""

from __future__ import annotations

from dataclasses import dataclass

from attnviz.errors import AttnvizError
from attnviz.trace import Trace
from attnviz.variants.operations import OPERATIONS, Expression, cell
from attnviz.variants.written import Term, number, plain, sum_latex, sum_text


@dataclass(frozen=True)
class Arithmetic:
    """One cell: the sum of the terms, divided by the sum of the divisor where there is one.

    latex is the formula, the formula with numbers, and the result, in one line that a browser may
    break at its signs; text is the same with numbers only. Long sums are shortened in both, never
    in terms. sentence says in plain words what is computed; it names tokens, so show it as plain
    text.
    """

    step: str
    index: tuple[int, ...]
    terms: tuple[Term, ...]
    divisor: tuple[Term, ...]
    value: float
    latex: str
    text: str
    sentence: str


def explain(trace: Trace, step_name: str, index: tuple[int, ...]) -> Arithmetic:
    """How the cell at this index of a step's tensor came about.

    index has one number for each axis of the step, batch first. Raises AttnvizError for a step
    or a cell that the trace does not have.
    """
    step = trace[step_name]
    fits = len(index) == len(step.shape) and all(
        0 <= place < size for place, size in zip(index, step.shape, strict=True)
    )
    if not fits:
        raise AttnvizError(f"The step {step_name!r} of shape {step.shape} has no cell {index}.")
    made = OPERATIONS[step.origin.operation](trace, step, index)
    value = sum(term.value for term in made.terms)
    if made.divisor:
        value /= sum(term.value for term in made.divisor)
    return Arithmetic(
        step=step_name,
        index=index,
        terms=made.terms,
        divisor=made.divisor,
        value=value,
        latex=_latex(cell(step.symbol, index[-2:]), made, value),
        text=_text(f"{step_name}[{', '.join(map(str, index[-2:]))}]", made, value),
        sentence=made.sentence,
    )


def _latex(left: str, made: Expression, value: float) -> str:
    sides = [left, made.symbolic] if made.symbolic else [left]
    if made.divisor:
        sides.append(rf"{sum_latex(made.terms)} \,/\, ({sum_latex(made.divisor)})")
    elif made.worked or len(made.terms) > 1 or any(len(term.factors) > 1 for term in made.terms):
        sides.append(made.worked or sum_latex(made.terms))
    return " = ".join([*sides, number(value)])


def _text(left: str, made: Expression, value: float) -> str:
    middle = sum_text(made.terms)
    if made.divisor:
        middle = f"{middle} / ({sum_text(made.divisor)})"
    result = plain(value)
    return f"{left} = {result}" if middle == result else f"{left} = {middle} = {result}"

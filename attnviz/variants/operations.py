"""For each kind of step: which numbers of which earlier tensors make one of its cells."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from attnviz.positions import rotary_tables
from attnviz.trace import Step, Trace
from attnviz.variants.written import Term, number

Index = tuple[int, ...]


@dataclass(frozen=True)
class Expression:
    """What makes one cell: numbers, and the formula they stand in for."""

    terms: tuple[Term, ...]
    symbolic: str  # LaTeX, right of the equals sign; "" for a number that just is there
    sentence: str
    divisor: tuple[Term, ...] = ()
    worked: str = ""  # LaTeX with numbers, where a sum of products is not how it is written


def cell(symbol: str, place: tuple[object, ...]) -> str:
    """LaTeX of one cell of a matrix: S[2, 0], or Q_h[2, 0] of a head."""
    return f"{symbol}[{', '.join(map(str, place))}]"


def _products(left: Tensor, right: Tensor) -> tuple[Term, ...]:
    pairs = zip(left.tolist(), right.tolist(), strict=True)
    return tuple(Term((a, b)) for a, b in pairs)


def _number_at(tensor: Tensor, index: Index) -> float:
    return float(tensor[index])


def _asker(trace: Trace, row: int) -> str:
    return f"query {row} ({trace.query_tokens[row]})"


def _key(trace: Trace, col: int) -> str:
    return f"key {col} ({trace.key_tokens[col]})"


def _first_up(words: str) -> str:
    return words[:1].upper() + words[1:]


def _token(trace: Trace, step: Step, row: int) -> str:
    return _key(trace, row) if step.axes[-2] == "key" else _asker(trace, row)


def _shared(index: Index, source: Tensor, heads: int) -> Index:
    """Batch and head of a source that several query heads may share."""
    if source.ndim == 3:
        return index[:1]
    return index[0], index[1] * source.shape[1] // heads


def given(trace: Trace, step: Step, index: Index) -> Expression:
    value = _number_at(step.tensor, index)
    if step.axes[-2] not in ("query", "key"):
        return Expression((Term((value,)),), "", "Given, not computed from the input.")
    who = _token(trace, step, index[-2])
    return Expression(
        (Term((value,)),), "", f"Component {index[-1]} of the vector of {who}: given, not computed."
    )


def total(trace: Trace, step: Step, index: Index) -> Expression:
    first, second = (trace[name] for name in step.origin.sources)
    terms = tuple(Term((_number_at(part.tensor, index),)) for part in (first, second))
    symbolic = f"{cell(first.symbol, index[-2:])} + {cell(second.symbol, index[-2:])}"
    who = _token(trace, step, index[-2])
    return Expression(
        terms, symbolic, f"What {who} is, plus where it stands, component {index[-1]}."
    )


def product(trace: Trace, step: Step, index: Index) -> Expression:
    source, weight = step.origin.sources
    batch, row, col = index
    left, right = trace[source], trace.parameters[weight]
    name = rf"W^{{{weight.removeprefix('W_').upper()}}}"
    symbolic = rf"\sum_{{c}} {cell(left.symbol, (row, 'c'))}\; {cell(name, ('c', col))}"
    return Expression(
        _products(left.tensor[batch, row], right[:, col]),
        symbolic,
        f"The row of {_token(trace, step, row)} times column {col} of {weight}, summed.",
    )


def split(trace: Trace, step: Step, index: Index) -> Expression:
    source = trace[step.origin.sources[0]]
    batch, head, row, channel = index
    col = head * step.shape[-1] + channel
    symbolic = cell(source.symbol, (row, col))
    return Expression(
        (Term((_number_at(source.tensor, (batch, row, col)),)),),
        symbolic,
        f"Channel {channel} of head {head} is column {col} of the whole projection.",
    )


def rotary(trace: Trace, step: Step, index: Index) -> Expression:
    source = trace[step.origin.sources[0]]
    *_, row, channel = index
    length, size = step.shape[-2:]
    cos, sin = (float(table[row, channel]) for table in rotary_tables(length, size))
    half = size // 2
    partner = channel + half if channel < half else channel - half
    sign = "-" if channel < half else "+"
    own = _number_at(source.tensor, index)
    other = _number_at(source.tensor, (*index[:-1], partner))
    angle = rf"{row}\,\theta_{{{channel % half}}}"
    symbolic = (
        rf"{cell(source.symbol, (row, channel))} \cos({angle}) {sign} "
        rf"{cell(source.symbol, (row, partner))} \sin({angle})"
    )
    return Expression(
        (Term((own, cos)), Term((other, -sin if channel < half else sin))),
        symbolic,
        f"Channels {min(channel, partner)} and {max(channel, partner)} of "
        f"{_token(trace, step, row)} turn together, by an angle that grows with position {row}.",
    )


def dot(trace: Trace, step: Step, index: Index) -> Expression:
    left, right = (trace[name] for name in step.origin.sources)
    row, col = index[-2:]
    asked = left.tensor[index[:-1]]
    heads = step.shape[1] if len(step.shape) == 4 else 1
    offered = right.tensor[(*_shared(index, right.tensor, heads), col)]
    symbolic = rf"\sum_{{c}} {cell(left.symbol, (row, 'c'))}\; {cell(right.symbol, (col, 'c'))}"
    return Expression(
        _products(asked, offered),
        symbolic,
        f"{_first_up(_asker(trace, row))} times {_key(trace, col)}, channel by channel, summed.",
    )


def scale(trace: Trace, step: Step, index: Index) -> Expression:
    source = trace[step.origin.sources[0]]
    score, factor = _number_at(source.tensor, index), float(trace.options["scale"])
    d_k, temperature = trace.dimensions["head_dim"], float(trace.options["temperature"])
    here = cell(source.symbol, index[-2:])
    hot = temperature != 1
    if abs(factor * temperature * d_k**0.5 - 1) < 1e-9:
        below = r"(\tau \sqrt{d_k})" if hot else r"\sqrt{d_k}"
        digits = rf"({number(temperature)} \cdot \sqrt{{{d_k}}})" if hot else rf"\sqrt{{{d_k}}}"
        symbolic = rf"{here} \,/\, {below}"
        worked = rf"{number(score)} \,/\, {digits}"
        words = f"The score divided by the square root of d_k = {d_k}"
    else:
        symbolic = rf"{here} \cdot {number(factor)}" if factor != 1 else here
        worked = "" if factor != 1 else number(score)
        words = f"The score times {factor:.4g}" if factor != 1 else "The score as it is, not scaled"
    words += f" and by the temperature {temperature:g}." if hot and worked else "."
    return Expression((Term((score, factor)),), symbolic, words, worked=worked)


def mask(trace: Trace, step: Step, index: Index) -> Expression:
    source = trace[step.origin.sources[0]]
    row, col = index[-2:]
    who = f"{_first_up(_asker(trace, row))} {{}} look at {_key(trace, col)}"
    value = _number_at(step.tensor, index)
    if value == -torch.inf:
        return Expression(
            (Term((value,)),), "", f"{who.format('may not')}: its score becomes minus infinity."
        )
    return Expression(
        (Term((value,)),),
        cell(source.symbol, index[-2:]),
        f"{who.format('may')}: its score stays.",
    )


def softmax(trace: Trace, step: Step, index: Index) -> Expression:
    source = trace[step.origin.sources[0]]
    row, col = index[-2:]
    scores = source.tensor[index[:-1]].tolist()  # of one query, on every key
    seen = [score for score in scores if score != -torch.inf]
    if scores[col] == -torch.inf:
        why = "hidden" if seen else "hidden, as all keys are from this query"
        return Expression((Term((0.0,)),), "", f"{_first_up(_key(trace, col))} is {why}: weight 0.")
    top = max(seen)
    here = cell(source.symbol, (row, col))
    others = cell(source.symbol, (row, "j"))
    symbolic = rf"e^{{{here} - m}} \,/\, \textstyle\sum_{{j}} e^{{{others} - m}}"
    return Expression(
        (Term((scores[col], top), "power"),),
        symbolic,
        f"The share of {_key(trace, col)} among the {len(seen)} keys that {_asker(trace, row)} may "
        f"look at; m is the largest score of the row.",
        divisor=tuple(Term((score, top), "power") for score in seen),
    )


def mix(trace: Trace, step: Step, index: Index) -> Expression:
    weights, values = (trace[name] for name in step.origin.sources)
    row, col = index[-2:]
    heads = step.shape[1] if len(step.shape) == 4 else 1
    shares = weights.tensor[index[:-1]]
    column = values.tensor[_shared(index, values.tensor, heads)][:, col]
    symbolic = rf"\sum_{{j}} {cell(weights.symbol, (row, 'j'))}\; {cell(values.symbol, ('j', col))}"
    return Expression(
        _products(shares, column),
        symbolic,
        f"The values of all keys in component {col}, each times its weight for "
        f"{_asker(trace, row)}, summed.",
    )


def concatenate(trace: Trace, step: Step, index: Index) -> Expression:
    source = trace[step.origin.sources[0]]
    batch, row, col = index
    head, channel = divmod(col, source.shape[-1])
    symbol = source.symbol.replace("_h", f"_{{{head}}}")
    return Expression(
        (Term((_number_at(source.tensor, (batch, head, row, channel)),)),),
        cell(symbol, (row, channel)),
        f"Column {col} is component {channel} of head {head}.",
    )


def by_formula(trace: Trace, step: Step, index: Index) -> Expression:
    return Expression(
        (Term((_number_at(step.tensor, index),)),),
        "",
        f"Computed from {', '.join(step.origin.sources)} by this step's formula.",
    )


OPERATIONS: dict[str, Callable[[Trace, Step, Index], Expression]] = {
    "given": given,
    "sum": total,
    "product": product,
    "split": split,
    "rotary": rotary,
    "dot": dot,
    "scale": scale,
    "mask": mask,
    "softmax": softmax,
    "mix": mix,
    "concatenate": concatenate,
    "formula": by_formula,
}

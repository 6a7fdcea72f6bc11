"""Every run checks itself: the map that is shown is the one that made the layer's output."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attnviz.models.layers import LayerRecord, of_heads
from attnviz.models.stream import CELLS, blocks

ROWS = 8  # sampled rows a layer
COMPARE_UP_TO = 1024  # tokens up to which a second, plain run is compared
TOLERANCE = {torch.float32: 1e-4, torch.float64: 1e-4}
COARSE = 3e-2  # of a half-precision model, whose own rounding is that large


@dataclass(frozen=True)
class LayerCheck:
    """How far one layer's sampled rows are from what they must be."""

    output_error: float | None  # |tile V - output|, relative to the largest output above 1;
    # None: the map is the one that the model itself returned, and its V is not known
    row_sum_error: float
    mask_leak: float  # the largest weight where the mask forbids one
    softmax: bool = True  # False: an effective map, whose rows need not sum to 1
    row_limit: float = 0.0  # how far rows may be from 1 where the model itself rounds coarsely


@dataclass(frozen=True)
class CheckResult:
    """What the page says about a run, and the numbers behind it."""

    passed: bool
    output_error: float | None  # None: no layer's V is known
    row_sum_error: float
    mask_leak: float
    logits_error: float | None  # against a plain run; None: not compared
    compared: str  # "logits" or "hidden states"
    plain: str  # the attention implementation of the plain run
    sentence: str


def check_layer(
    record: LayerRecord,
    values: Float[Tensor, "kv_heads keys dim_v"],
    output: Float[Tensor, "heads queries dim_v"],
    mask: Tensor | None,
) -> LayerCheck:
    """Compare sampled rows with the layer's output, and with the mask as the model gave it.

    mask is the tensor that the model passed, or None for causal or full attention: the record's
    own rule is not trusted here.
    """
    length = record.n_queries
    step = -(-length // ROWS)
    rows = slice((length - 1) % step, length, step)  # the last row is always among them
    group = record.n_heads // values.shape[0]
    forbidden = _forbidden(record, mask, rows)  # (1 or heads, rows, keys)
    output_error = row_sum_error = leak = 0.0
    for some in blocks(record.n_heads, max(1, CELLS // (ROWS * length))):
        weights = record.weights(some, rows, slice(None))  # (heads, rows, keys)
        value = values[[head // group for head in range(some.start, some.stop)]]
        expected = output[some, rows].to(weights.dtype)
        size = _largest(expected)
        error = _largest(weights @ value.to(weights.dtype) - expected) / max(1.0, size)
        output_error = max(output_error, error if math.isfinite(size) else math.inf)
        outside = of_heads(forbidden, some)
        totals = weights.sum(-1) + record.sink_weights(some, rows)
        wanted = (~outside).any(-1).to(totals.dtype)  # an empty row sums to 0
        row_sum_error = max(row_sum_error, _largest(totals - wanted))
        leak = max(leak, _largest(weights * outside))
    return LayerCheck(output_error, row_sum_error, leak)


def check_map(record: LayerRecord, row_limit: float = 0.0) -> LayerCheck:
    """Whether whole maps, as a model returned them, are weights: row sums, and the mask."""
    everything = slice(None)
    weights = record.weights(everything, everything, everything)
    sums = weights.sum(-1)
    wrong = torch.minimum((sums - 1).abs(), sums.abs())  # an empty row sums to 0
    return LayerCheck(None, _largest(wrong), 0.0, row_limit=row_limit)


def conclude(
    layers: Sequence[LayerCheck],
    dtype: torch.dtype,
    *,
    logits_error: float | None,
    largest: float,
    compared: str,
    plain: str,
) -> CheckResult:
    """One verdict over a run; logits_error is absolute, largest the size of what it compares."""
    tolerance = TOLERANCE.get(dtype, COARSE)
    known = [layer.output_error for layer in layers if layer.output_error is not None]
    output_error = max(known) if known else None
    row_sum_error = max((layer.row_sum_error for layer in layers), default=0.0)
    leak = max((layer.mask_leak for layer in layers), default=0.0)
    limit = logits_limit(dtype, largest)
    passed = (
        (output_error is None or output_error <= tolerance)
        and all(layer.row_sum_error <= max(tolerance, layer.row_limit) for layer in layers)
        and leak == 0.0
        and (logits_error is None or logits_error <= limit)
    )
    products = (
        "the maps are those that the model's own code returned"
        if output_error is None
        else "sampled rows times V differ from each layer's output by at most "
        f"{_number(output_error)}"
    )
    parts = [
        products,
        f"rows sum to 1 within {_number(row_sum_error)}"
        if any(layer.softmax for layer in layers)
        else "these are effective maps, whose rows need not sum to 1",
        "no weight where the mask forbids it" if leak == 0.0 else f"masked weight {_number(leak)}",
    ]
    if logits_error is not None:
        parts.insert(0, f"{compared} equal those of a plain {plain} run {within(logits_error)}")
    return CheckResult(
        passed=passed,
        output_error=output_error,
        row_sum_error=row_sum_error,
        mask_leak=leak,
        logits_error=logits_error,
        compared=compared,
        plain=plain,
        sentence=("Checked: " if passed else "The check failed: ") + "; ".join(parts) + ".",
    )


def logits_limit(dtype: torch.dtype, largest: float) -> float:
    """How far logits of two runs may lie apart, the largest of them being this large."""
    if dtype in TOLERANCE:
        return TOLERANCE[dtype]
    return COARSE * max(1.0, largest)


def _largest(tensor: Tensor) -> float:
    """The largest magnitude; infinite where anything is not a number, so that it never passes."""
    value = float(tensor.abs().max())
    return math.inf if math.isnan(value) else value


def _number(error: float) -> str:
    return f"{error:.0e}" if error else "0"


def within(error: float) -> str:
    """How closely two things agree, in words."""
    return f"within {error:.0e}" if error else "exactly"


def _forbidden(
    record: LayerRecord, mask: Tensor | None, rows: slice
) -> Bool[Tensor, "#heads rows keys"]:
    i, j = record.positions(rows, slice(None))
    if mask is None:
        ahead = j[None, None, :] > i[None, :, None]
        return ahead if record.rule.causal else torch.zeros_like(ahead)
    part = mask[0].expand(-1, record.n_queries, -1)[:, rows]
    return ~part if part.dtype == torch.bool else part <= torch.finfo(part.dtype).min / 2

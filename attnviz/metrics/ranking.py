"""Which heads do this? Every head ranked by its weight on one cell or block, no map formed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import torch

from attnviz import input_checks
from attnviz.errors import AttnvizError
from attnviz.models.slices import slice_of

if TYPE_CHECKING:
    from attnviz.models.captures import Capture
    from attnviz.models.mixers.view import EffectiveMaps

CELLS = 2**19
"""Weights of one layer that are there at a time: 2 MiB, which a core's cache holds."""


def which_heads(
    capture: Capture | EffectiveMaps,
    queries: int | slice,
    keys: int | slice,
    group: str | None = None,
    progress: Callable[[float, str], None] = lambda fraction, text: None,
) -> pd.DataFrame:
    """All heads by their mean weight from these queries to these keys, the largest first.

    A weight is exp(q . k * scale + bias - log-sum-exp of its row), computed from what the capture
    keeps, for these cells alone, a layer at a time. Pairs that the mask forbids count as 0.
    Columns layer, head, weight. Of effective maps (capture.effective), which are signed, heads
    are ranked by size and the mean keeps its sign.

    Raises AttnvizError for a position or block that is not there.
    """
    part = capture if group is None else capture.of(group)  # type: ignore[union-attr]
    rows, cols = spans(part, queries, keys)
    records = getattr(part, "records", None)  # not of maps by words, nor of value-weighted ones
    found: list[tuple[int, int, float]] = []
    for done, layer in enumerate(part.captured):
        progress(done / len(part.captured), f"Layer {layer.index}")
        if records is None:
            tiles = (part.weights(layer.index, head, rows, cols) for head in range(layer.n_heads))
            means = np.array([tile.mean(dtype=np.float64) for tile in tiles])
        else:
            means = _means(records[layer.index], layer.n_heads, rows, cols)
        found += [(layer.index, head, float(mean)) for head, mean in enumerate(means)]
    table = pd.DataFrame(found, columns=["layer", "head", "weight"])
    order = np.argsort(-table["weight"].abs().to_numpy(), kind="stable")
    return table.iloc[order].reset_index(drop=True)


def spans(
    part: Capture | EffectiveMaps, queries: int | slice, keys: int | slice
) -> tuple[slice, slice]:
    """The cell or block as two spans of positions; AttnvizError for one that is not there."""
    return _span(queries, part.n_tokens, "queries"), _span(keys, part.n_keys, "keys")


def _means(record: object, n_heads: int, rows: slice, cols: slice) -> np.ndarray:
    """(heads,): each head's mean weight over the block."""
    sums = torch.zeros(n_heads, dtype=torch.float64)
    step = max(1, CELLS // (n_heads * (cols.stop - cols.start)))
    for start in range(rows.start, rows.stop, step):
        some = slice(start, min(start + step, rows.stop))
        # What a causal or sliding mask forbids to all of these queries is not computed.
        rule = getattr(record, "rule", None)
        reach = cols if rule is None else rule.reach(some, cols.stop)
        seen = slice(max(cols.start, reach.start), min(cols.stop, reach.stop))
        if seen.start < seen.stop:
            weights = record.weights(slice(0, n_heads), some, seen)  # type: ignore[attr-defined]
            sums += weights.float().sum(-1).double().sum(-1).cpu()
    return (sums / ((rows.stop - rows.start) * (cols.stop - cols.start))).numpy()


def _span(place: int | slice, length: int, word: str) -> slice:
    if isinstance(place, slice):
        span = slice_of(place, length)
        if span.step != 1 or span.start == span.stop:
            raise AttnvizError(f"A block of {word} spans one at least, not {place!r}.")
        return slice(span.start, span.stop)
    one = input_checks.place(word, place, length)
    return slice(one, one + 1)

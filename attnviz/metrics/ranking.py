"""Which heads do this? Every head ranked by its weight on one cell or block, no map formed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from attnviz.errors import AttnvizError

if TYPE_CHECKING:
    from attnviz.models.captures import Capture


def which_heads(
    capture: Capture,
    queries: int | slice,
    keys: int | slice,
    group: str | None = None,
) -> pd.DataFrame:
    """All heads by their mean weight from these queries to these keys, the largest first.

    A weight is exp(q . k * scale + bias - log-sum-exp of its row), computed from what the capture
    keeps, for these cells alone. Pairs that the mask forbids count as 0. Columns layer, head,
    weight. Effective maps of layers with a state are signed: heads are ranked by size, and the
    weight keeps its sign.

    Raises AttnvizError for a position or block that is not there.
    """
    part = capture.of(group)
    rows = _span(queries, part.n_tokens, "queries")
    cols = _span(keys, part.n_keys, "keys")
    found = [
        (layer.index, head, float(weight))
        for layer in part.captured
        for head, weight in enumerate(_means(part, layer.index, rows, cols))
    ]
    table = pd.DataFrame(found, columns=["layer", "head", "weight"])
    order = np.argsort(-table["weight"].abs().to_numpy(), kind="stable")
    return table.iloc[order].reset_index(drop=True)


def _means(capture: Capture, layer: int, rows: slice, cols: slice) -> np.ndarray:
    """(heads,): each head's mean weight over the block."""
    weights = capture.records[layer].weights(slice(None), rows, cols)
    return weights.float().mean(dim=(1, 2)).numpy()


def _span(place: int | slice, length: int, word: str) -> slice:
    if isinstance(place, int):
        if not 0 <= place < length:
            raise AttnvizError(f"There are {word} 0 to {length - 1}; {place} is not there.")
        return slice(place, place + 1)
    start, stop, step = place.indices(length)
    if step != 1 or stop <= start:
        raise AttnvizError(f"A block of {word} spans one at least, not {place!r}.")
    return slice(start, stop)

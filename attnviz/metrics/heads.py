"""Six numbers a head: how spread its attention is, how far it looks, and at what.

Entropy and distance follow Clark et al. 2019 (What Does BERT Look At?, sections 3.2 and 3.3)
and Vig and Belinkov 2019 (sections 4.2 and 4.3), for one text instead of a corpus. The effective
span is the exponential of the entropy, the number of keys that an even row of that entropy has
(Hill 1973, Diversity and Evenness: the number of order 1; a language model's perplexity alike).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float, Int
from torch import Tensor

NAMES = ("entropy", "distance", "first", "previous", "self", "span")
"""entropy: nats. distance: tokens. first, previous, self: share of a row's weight, 0 to 1.
span: keys."""
PLACED = ("distance", "previous", "self")
"""Those that a query and a key with one number must be one token for: not so in cross maps."""


def row_metrics(
    weights: Float[Tensor, "heads rows keys"],
    first_row: int = 0,
    first_key: int = 0,
    *,
    entropy: Float[Tensor, "heads rows"] | None = None,
    distance: Float[Tensor, "heads rows"] | None = None,
) -> Float[Tensor, "heads rows metrics"]:
    """The six numbers of every row, in the order of NAMES.

    weights may be a block of a larger map: first_row and first_key are the positions of its
    corner, and keys outside the block must have no weight. entropy is -sum p ln p in nats
    (0 for a row on one key, ln T for an even one); distance is sum p |i - j| in tokens; first,
    previous and self are the weights on key 0, key i - 1 and key i; span is exp(entropy), from 1 to
    the number of keys. Row 0 has no previous key: NaN. Who has the rows' entropy or distance
    already may give them.
    """
    _, n_rows, n_keys = weights.shape
    if distance is None:
        rows, keys = slice(first_row, first_row + n_rows), slice(first_key, first_key + n_keys)
        distance = (weights * key_gaps(rows, keys, weights.device)).sum(-1)
    own = torch.arange(n_rows, device=weights.device) + first_row - first_key  # column of key i
    numbers = weights.new_empty(*weights.shape[:2], len(NAMES))
    numbers[..., 0] = torch.special.entr(weights).sum(-1) if entropy is None else entropy
    numbers[..., 1] = distance
    numbers[..., 2] = weights[..., 0] if first_key == 0 else 0.0
    numbers[..., 3] = _at(weights, own - 1)
    numbers[..., 4] = _at(weights, own)
    torch.exp(numbers[..., 0], out=numbers[..., 5])
    if first_row == 0:
        numbers[:, 0, 3] = torch.nan
    return numbers


def key_gaps(
    rows: slice, keys: slice, device: torch.device | str = "cpu"
) -> Int[Tensor, "rows keys"]:
    """|i - j| for these queries and keys, in tokens."""
    i = torch.arange(rows.start, rows.stop, device=device)
    j = torch.arange(keys.start, keys.stop, device=device)
    return (i[:, None] - j[None, :]).abs()


def head_metrics(
    weights: Float[Tensor, "heads queries keys"],
) -> Float[Tensor, "heads metrics"]:
    """Each head's mean over its rows of the six numbers, in the order of NAMES.

    The mean of "previous" is over the rows that have a previous key; a map of one row has none
    and gets NaN there.
    """
    return mean_rows(row_metrics(weights))


def head_table(
    numbers: Float[np.ndarray, "layers heads metrics"],
    layers: Sequence[tuple[int, int]],
    across: bool = False,
) -> pd.DataFrame:
    """A row a head: layer, head and the numbers by name. layers: (index, heads) of each.

    across: the keys are another text's, so that PLACED means nothing and is NaN.
    """
    rows = [
        (index, head, *map(float, numbers[place, head]))
        for place, (index, n_heads) in enumerate(layers)
        for head in range(n_heads)
    ]
    frame = pd.DataFrame(rows, columns=["layer", "head", *NAMES])
    if across:
        frame[list(PLACED)] = np.nan
    return frame


def mean_rows(
    numbers: Float[Tensor, "heads rows metrics"],
) -> Float[Tensor, "heads metrics"]:
    """The mean over rows, those without a number left out."""
    return numbers.double().nanmean(dim=1).to(numbers.dtype)


def _at(weights: Tensor, keys: Tensor) -> Tensor:
    """The weight of row r on key keys[r] of the block; 0 where that key lies outside it."""
    inside = (keys >= 0) & (keys < weights.shape[-1])
    index = keys.clamp(0, weights.shape[-1] - 1).expand(weights.shape[0], -1)[..., None]
    return weights.gather(-1, index)[..., 0] * inside

"""What heads do with a token that was there before: duplicate-token and induction scores.

Olsson et al. 2022, In-context Learning and Induction Heads: an induction head reads, from a token
that stood earlier, the token after that earlier one ("prefix matching", appendix), so that its
score is the weight there. Wang et al. 2022, Interpretability in the Wild, section 3: a
duplicate-token head reads the earlier one itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import torch
from jaxtyping import Int
from torch import Tensor

from attnviz import seeded
from attnviz.errors import AttnvizError

if TYPE_CHECKING:
    from attnviz.models.captures import Capture
    from attnviz.models.loaded import LoadedModel

NAMES = ("duplicate", "induction")
"""duplicate: weight on the last place of the same token. induction: on the place after it."""

AT_ONCE = 512  # pairs whose queries and keys a core's cache holds


def pattern_scores(capture: Capture, group: str | None = None) -> pd.DataFrame:
    """A row a head: layer, head, duplicate, induction, each a mean over the rows that count.

    A row counts when its token stood earlier in the text; the latest earlier place is taken. The
    induction score of a token whose earlier place is the one before it would be its weight on
    itself: such rows are left out of it. NaN where the text repeats nothing.
    """
    part = capture.of(group)
    if part.keys is not None:
        raise AttnvizError(
            "Duplicate and induction scores need a text that reads itself; these are cross maps."
        )
    repeated, places = earlier(part.token_ids)
    after = places + 1 < repeated  # the row itself is no answer
    rows = []
    for layer in part.captured:
        record = part.records[layer.index]
        duplicate = _mean_at(record, repeated, places)
        induction = _mean_at(record, repeated[after], places[after] + 1)
        rows += [
            (layer.index, head, float(duplicate[head]), float(induction[head]))
            for head in range(layer.n_heads)
        ]
    return pd.DataFrame(rows, columns=["layer", "head", *NAMES])


def earlier(ids: tuple[int, ...]) -> tuple[Int[Tensor, " rows"], Int[Tensor, " rows"]]:
    """(positions whose token stood before, its latest earlier position for each)."""
    last: dict[int, int] = {}
    found = []
    for position, token in enumerate(ids):
        if token in last:
            found.append((position, last[token]))
        last[token] = position
    pairs = torch.tensor(found, dtype=torch.long).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]


def repeated_random(model: LoadedModel, length: int = 50, seed: int = 0) -> Int[Tensor, " tokens"]:
    """The standard probe: random tokens, then the same again (Olsson et al. 2022, appendix).

    (2 * length,) ids of ordinary tokens, each at most once in a half, so that nothing but the
    repetition can tell what comes next.
    """
    special = set(model.tokenizer.all_special_ids) if model.tokenizer is not None else set()
    words = int(getattr(model.shape, "vocab_size", 0) or 0)
    if not words:
        raise AttnvizError(f"{model.title} reads no text, and the probe is one.")
    ordinary = [token for token in range(words) if token not in special]
    if not 1 <= length <= len(ordinary):
        raise AttnvizError(
            f"The probe takes 1 to {len(ordinary):,} different tokens, not {length:,}."
        )
    order = seeded.normal((len(ordinary),), seed, "probe").argsort()[:length]
    half = torch.tensor(ordinary)[order]
    return torch.cat([half, half])


def _mean_at(record: Any, rows: Tensor, cols: Tensor) -> np.ndarray:
    """(heads,): the mean weight on the pairs (rows[i], cols[i])."""
    if not len(rows):
        return np.full(record.n_heads, np.nan)
    parts = zip(rows.split(AT_ONCE), cols.split(AT_ONCE), strict=True)
    sums = torch.stack([record.pairs(*part).double().sum(-1) for part in parts])
    return (sums.sum(0) / len(rows)).numpy()

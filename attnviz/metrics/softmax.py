"""Why scores are divided by sqrt(d_k): their spread, how far softmax saturates, its gradient.

Vaswani et al. 2017, section 3.2.1 and footnote 4: for components of mean 0 and variance 1 a dot
product of d_k of them has variance d_k; large scores push softmax where its gradient vanishes.
"""

from __future__ import annotations

from functools import lru_cache

import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor

from attnviz import seeded
from attnviz.errors import AttnvizError
from attnviz.trace import Trace

LADDER = tuple(2**power for power in range(11))
"""Values of d_k: 1, 2, 4, .. 1024."""
QUERIES, KEYS = 256, 32
"""Random queries and keys that each point of a curve is computed from."""

COLUMNS = ("variance", "entropy", "largest", "gradient")
"""variance: of the scores. entropy: nats. largest: weight, 0 to 1. gradient: Frobenius norm."""


def entropy(weights: Float[Tensor, "*batch keys"]) -> Float[Tensor, "*batch"]:
    """-sum a ln a of each row, in nats: 0 for one key, ln(keys) for an even spread."""
    return torch.special.entr(weights).sum(-1)


def gradient_norm(weights: Float[Tensor, "*batch keys"]) -> Float[Tensor, "*batch"]:
    """||d a / d s||_F of each softmax row a = softmax(s).

    The Jacobian is diag(a) - a a^T: it is 0 where one weight is 1, and then no score can learn.
    Entry (i, j) is a_i (1 - a_i) on the diagonal and -a_i a_j off it.
    """
    jacobian = torch.diag_embed(weights) - weights[..., :, None] * weights[..., None, :]
    return torch.linalg.matrix_norm(jacobian)


def spread(
    scores: Float[Tensor, "queries keys"], weights: Float[Tensor, "queries keys"]
) -> dict[str, float]:
    """The four numbers of COLUMNS for the scores that entered a softmax and what came out.

    Rows without any weight (a query with no key) are left out; -inf scores (hidden keys) too.
    Raises AttnvizError where that leaves nothing.
    """
    seen = weights.sum(-1) > 0
    if not bool(seen.any()):
        raise AttnvizError("Every key is hidden, so there is nothing to measure.")
    rows = weights[seen].double()
    visible = scores[scores.isfinite()].double()
    numbers = (
        visible.var(correction=0),
        entropy(rows).mean(),
        rows.amax(-1).mean(),
        gradient_norm(rows).mean(),
    )
    return {name: float(number) for name, number in zip(COLUMNS, numbers, strict=True)}


def spread_of(trace: Trace, head: int = 0) -> dict[str, float]:
    """The four numbers of one head of a finished run, for the scores as they entered softmax."""
    masked = trace["masked"].tensor
    scores = masked[0, head] if masked.ndim == 4 else masked[0]
    return spread(scores.detach(), trace.weights[0, head].detach())


@lru_cache(maxsize=8)
def curves(seed: int = 0, temperature: float = 1.0) -> pd.DataFrame:
    """The four numbers against d_k, with and without division by sqrt(d_k).

    Columns d_k, scaled (bool) and COLUMNS, from QUERIES x KEYS dot products of components drawn
    from N(0, 1). One d_k uses the first components of the next, so that the curves are smooth.
    """
    queries = seeded.normal((QUERIES, LADDER[-1]), seed, "curve queries")
    keys = seeded.normal((KEYS, LADDER[-1]), seed, "curve keys")
    rows = []
    for d_k in LADDER:
        products = queries[:, :d_k] @ keys[:, :d_k].T / temperature
        for scaled in (True, False):
            scores = products * d_k**-0.5 if scaled else products
            rows.append(
                {"d_k": d_k, "scaled": scaled, **spread(scores, torch.softmax(scores, dim=-1))}
            )
    return pd.DataFrame(rows)

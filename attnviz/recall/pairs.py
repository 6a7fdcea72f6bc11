"""Associative recall as a task of tokens: pairs of key and value, then the keys again.

Multi-query associative recall (Arora et al. 2023, Zoology, section 3, arXiv:2312.04927), all
pairs first and every key asked for once: "k1 v1 k2 v2 .. kN vN k3 k1 ..".
"""

from __future__ import annotations

import torch
from jaxtyping import Int
from torch import Tensor

KEYS, VALUES = 40, 16
"""Tokens that serve as keys (0 ..) and, after them, as values."""
PAIRS = 20


def draw(
    n: int, generator: torch.Generator, pairs: int = PAIRS
) -> tuple[Int[Tensor, "{n} 3*{pairs}"], Int[Tensor, "{n} {pairs}"]]:
    """Token numbers, and the value wanted at each of the last `pairs` tokens (0 .. VALUES - 1).

    Keys differ within a sequence; values may repeat, so that guessing is right 1 time in VALUES.
    """
    keys = torch.rand(n, KEYS, generator=generator).argsort(dim=1)[:, :pairs]
    values = torch.randint(VALUES, (n, pairs), generator=generator)
    order = torch.rand(n, pairs, generator=generator).argsort(dim=1)
    written = torch.stack([keys, KEYS + values], dim=-1).flatten(1)
    return torch.cat([written, keys.gather(1, order)], dim=1), values.gather(1, order)

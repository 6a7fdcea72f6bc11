"""Random numbers that a link can promise: the same words give the same numbers."""

from __future__ import annotations

import operator
from zlib import crc32

import torch
from jaxtyping import Float64
from torch import Tensor

from attnviz.errors import AttnvizError


def normal(shape: tuple[int, ...], seed: int, *words: object) -> Float64[Tensor, ...]:
    """Independent draws from N(0, 1), fixed by the words: normal((2, 3), seed, "W_q", head).

    Drawn on the CPU in float64 and cast by the caller, so that every device and precision sees
    the same numbers.
    """
    named = "/".join(map(str, (whole_seed(seed), *words)))
    generator = torch.Generator().manual_seed(crc32(named.encode()))
    return torch.randn(shape, generator=generator, dtype=torch.float64)


def whole_seed(seed: int) -> int:
    """seed, if it is a whole number: 1.5 or "a" would be other words, and other numbers."""
    if isinstance(seed, bool) or not hasattr(seed, "__index__"):
        raise AttnvizError(f"seed must be a whole number; received {seed!r}.")
    return operator.index(seed)

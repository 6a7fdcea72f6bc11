"""Random numbers that a link can promise: the same words give the same numbers."""

from __future__ import annotations

from zlib import crc32

import torch
from jaxtyping import Float64
from torch import Tensor


def normal(shape: tuple[int, ...], *words: object) -> Float64[Tensor, ...]:
    """Independent draws from N(0, 1), fixed by the words: normal((2, 3), seed, "W_q", head).

    Drawn on the CPU in float64 and cast by the caller, so that every device and precision sees
    the same numbers.
    """
    generator = torch.Generator().manual_seed(crc32("/".join(map(str, words)).encode()))
    return torch.randn(shape, generator=generator, dtype=torch.float64)

"""A variant's own weight matrices: random, and fixed by a seed."""

from __future__ import annotations

import torch
from jaxtyping import Float64
from torch import Tensor

from attnviz import seeded


def head_columns(
    name: str, seed: int, n_heads: int, n_in: int, n_out: int
) -> Float64[Tensor, "{n_in} {n_heads}*{n_out}"]:
    """(n_in, n_heads * n_out), entries from N(0, 1 / n_in): components of variance 1 stay so.

    Head h has the same columns whatever the number of heads, so that MHA, GQA and MQA with one
    seed differ only in which heads there are.
    """
    blocks = [seeded.normal((n_in, n_out), seed, name, head) for head in range(n_heads)]
    return torch.cat(blocks, dim=1) * n_in**-0.5


def head_rows(
    name: str, seed: int, n_heads: int, n_in: int, n_out: int
) -> Float64[Tensor, "{n_heads}*{n_in} {n_out}"]:
    """(n_heads * n_in, n_out), a block of rows for each head, scaled to keep variance 1."""
    blocks = [seeded.normal((n_in, n_out), seed, name, head) for head in range(n_heads)]
    return torch.cat(blocks, dim=0) * (n_heads * n_in) ** -0.5

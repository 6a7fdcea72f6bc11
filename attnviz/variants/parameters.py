"""A variant's own weight matrices: random, and fixed by a seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from jaxtyping import Float64
from torch import Tensor

from attnviz import seeded
from attnviz.errors import AttnvizError


def replacements(
    drawn: Mapping[str, Tensor], given: Mapping[str, Tensor | Sequence]
) -> dict[str, Tensor]:
    """The given weights in the shapes of those drawn, in float64. Raises AttnvizError."""
    made = {}
    for word, value in given.items():
        if word not in drawn:
            raise AttnvizError(
                f"There is no weight {word!r} in this run; its weights are {', '.join(drawn)}."
            )
        wanted = tuple(drawn[word].shape)
        try:
            tensor = torch.as_tensor(value, dtype=torch.float64)
        except (TypeError, ValueError):
            raise AttnvizError(f"{word} must be numbers in rows of one length.") from None
        if tensor.ndim == 0 or tuple(tensor.shape) != wanted[-tensor.ndim :]:
            raise AttnvizError(
                f"{word} must have the shape {wanted}, or its last axes; received "
                f"{tuple(tensor.shape)}."
            )
        if not bool(tensor.isfinite().all()):
            raise AttnvizError(f"{word} must hold finite numbers.")
        made[word] = tensor.cpu().expand(wanted)
    return made


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

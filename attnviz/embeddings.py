"""A vector for each token: drawn at random, or from a trained table made small."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from jaxtyping import Float, Float64
from torch import Tensor

from attnviz import seeded


def drawn(ids: Sequence[int], d_model: int, seed: int) -> Float64[Tensor, "tokens {d_model}"]:
    """One vector a token id from N(0, 1): the same token has the same vector in any text."""
    vectors = {token: seeded.normal((d_model,), seed, "token", token) for token in set(ids)}
    return torch.stack([vectors[token] for token in ids])


def trained(
    table: Float[Tensor, "vocabulary size"],
    ids: Sequence[int],
    others: Sequence[int],
    d_model: int,
    seed: int,
) -> Float64[Tensor, "tokens {d_model}"]:
    """The rows of a trained table for these tokens, reduced to d_model together with others.

    Two texts, each with the other as `others`, come into the very same space.
    """
    seen = sorted({*ids, *others})
    rows = (table[seen] - table.mean(dim=0)).double()  # (distinct, size)
    reduced = near_preserving(rows.cpu(), d_model, seed)
    return reduced[[seen.index(token) for token in ids]]


def near_preserving(
    rows: Float[Tensor, "tokens size"], d_model: int, seed: int = 0
) -> Float[Tensor, "tokens {d_model}"]:
    """rows in d_model dimensions, keeping distances as well as a linear map can.

    Projected on their leading singular directions (exact when there are at most d_model rows),
    turned by a seeded random rotation so that no component is special, scaled so that the
    components' mean square is 1.
    """
    left, sizes, _ = torch.linalg.svd(rows, full_matrices=False)
    kept = (left * sizes)[:, :d_model]
    wide = torch.nn.functional.pad(kept, (0, d_model - kept.shape[1]))
    rotation, upper = torch.linalg.qr(seeded.normal((d_model, d_model), seed, "rotation"))
    turned = wide @ (rotation * upper.diagonal().sign()).to(rows.dtype)
    return turned / turned.square().mean().sqrt().clamp_min(torch.finfo(rows.dtype).tiny)


def word_vectors(
    table: Float[Tensor, "vocabulary size"], ids: Sequence[Sequence[int]]
) -> Float64[Tensor, "words size"]:
    """A vector of length 1 a word: the mean of its tokens' rows, less the mean of the table."""
    centre = table.mean(dim=0)
    rows = torch.stack([(table[list(word)] - centre).mean(dim=0) for word in ids]).double().cpu()
    return rows / rows.norm(dim=1, keepdim=True)

"""Attention as a dictionary that always answers: every entry, in proportion to its fit."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from attnviz.embeddings import word_vectors
from attnviz.errors import AttnvizError
from attnviz.inputs import TEXT_MODEL, tokenize

LEGS = {"cat": 4.0, "bird": 2.0, "spider": 8.0, "fish": 0.0}
"""The dictionary of the demonstration: an animal and its number of legs."""


@dataclass(frozen=True)
class Lookup:
    """What a dictionary says to one query."""

    fits: Float[Tensor, " entries"]  # query . key
    weights: Float[Tensor, " entries"]
    answer: Float[Tensor, " size"]  # the values, mixed in these shares
    best: int  # the entry that fits best
    exact: Float[Tensor, " size"]  # the value of that entry: the limit of temperature 0


def look_up(
    query: Float[Tensor, " d_k"],
    keys: Float[Tensor, "entries d_k"],
    values: Float[Tensor, "entries size"],
    temperature: float,
) -> Lookup:
    """softmax(keys . query / temperature) values, and the exact lookup it tends to."""
    if not temperature > 0:
        raise AttnvizError(f"temperature must be above 0; received {temperature!r}.")
    fits = keys @ query
    weights = torch.softmax(fits / temperature, dim=0)
    best = int(fits.argmax())
    return Lookup(fits, weights, weights @ values, best, values[best])


def look_up_word(word: str, entries: dict[str, float], temperature: float) -> Lookup:
    """Look a word up in a dictionary of words, by the angle between SmolLM2's embeddings.

    A word of several tokens is the mean of their rows; all vectors have length 1, so that a fit
    is a cosine and a word fits itself with 1. Raises AttnvizError for an empty word.
    """
    from attnviz.models.loading import embedding_table

    asked = word.strip()
    if not asked:
        raise AttnvizError("The word to look up is empty; type one.")
    # With the space that words have inside a text, where their own tokens begin with it.
    ids = [tokenize(f" {text}", max_tokens=16).ids for text in (asked, *entries)]
    vectors = word_vectors(embedding_table(TEXT_MODEL), ids)
    values = torch.tensor(list(entries.values()), dtype=vectors.dtype)[:, None]
    return look_up(vectors[0], vectors[1:], values, temperature)

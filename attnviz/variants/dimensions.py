"""Checks on the sizes that a caller chooses, each failing with a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import signature

from attnviz.errors import AttnvizError
from attnviz.variants.variant import Variant

MOST = 10**12
MOST_HEADS = 100_000
"""Heads are drawn one by one, and numbers of groups looked for one by one."""


def positive(name: str, value: object) -> int:
    """value, if it is a whole number above 0."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise AttnvizError(f"{name} must be a whole number; received {value!r}.")
    if value < 1:
        raise AttnvizError(f"{name} must be 1 or more; received {value}.")
    most = MOST_HEADS if name in ("n_heads", "n_kv_heads") else MOST
    if value > most:
        raise AttnvizError(f"{name} must be at most {most:,}; received {value:,}.")
    return value


def per_head(d_model: int, n_heads: int, head_dim: int | None) -> int:
    """The channels of each head: as given, or the model's features dealt out evenly."""
    if head_dim is not None:
        return positive("head_dim", head_dim)
    if d_model % n_heads:
        raise AttnvizError(
            f"d_model = {d_model} cannot be dealt out evenly to n_heads = {n_heads}; choose a "
            f"number of heads that divides it, or give head_dim."
        )
    return d_model // n_heads


def grouped(n_heads: int, n_kv_heads: int) -> int:
    """n_kv_heads, if the query heads can be shared out to them evenly."""
    positive("n_kv_heads", n_kv_heads)
    if n_heads % n_kv_heads:
        fitting = ", ".join(str(n) for n in range(1, n_heads + 1) if n_heads % n == 0)
        raise AttnvizError(
            f"n_heads = {n_heads} query heads cannot share n_kv_heads = {n_kv_heads} key/value "
            f"heads evenly; choose one of {fitting}."
        )
    return n_kv_heads


def sizes_of(variant: Variant, d_model: int, given: Mapping[str, object]) -> dict[str, int]:
    """All dimensions of a run, those not given at their defaults, checked."""
    known = [word for word in signature(variant.dimensions).parameters if word != "d_model"]
    for word, value in given.items():
        if word not in known:
            raise AttnvizError(
                f"{variant.name} has no dimension {word!r}; its dimensions are {', '.join(known)}."
            )
        positive(word, value)
    return variant.dimensions(d_model, **given)

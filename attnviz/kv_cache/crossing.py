"""From which context on one design takes less than another."""

from __future__ import annotations

from attnviz.kv_cache.sizes import Size
from attnviz.kv_cache.spec import CacheSpec
from attnviz.kv_cache.unfolded import resized

FARTHEST = 2**24
"""Tokens: no model has a longer context."""


def crossing(one: CacheSpec, other: CacheSpec, like: Size) -> int | None:
    """The fewest tokens at which the design that was larger at 1 token no longer is.

    None where it always is, up to 2**24 tokens, or where both start equal. like: the settings.
    A layer with a state starts larger than a layer with a cache, which then overtakes it: one
    KDA layer of Kimi K3 is as large as 5,462 tokens of one latent layer (its state alone).
    """

    def ahead(length: int) -> int:
        sizes = [resized(like, spec, length).total_bytes for spec in (one, other)]
        return (sizes[0] > sizes[1]) - (sizes[0] < sizes[1])

    start = ahead(1)
    if not start or ahead(FARTHEST) == start:
        return None
    low, high = 1, FARTHEST
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if ahead(middle) == start else (low, middle)
    return high

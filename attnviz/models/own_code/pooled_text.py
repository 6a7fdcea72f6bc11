"""Funnel: later blocks read pairs of what the block before read.

Dai et al. 2020, Funnel-Transformer (arXiv:2006.03236), section 2.2: a mean over every two
positions, the first token being kept apart ("separate cls"), for which the last is dropped.
"""

from __future__ import annotations

from typing import Any

from attnviz.models.axis import Axis, spans


def pooled_sides(config: Any, axis: Axis, n_queries: int, n_keys: int) -> tuple[Axis, Axis]:
    """What stands along a map of these lengths: tokens, or the spans of tokens that are pooled."""
    sides = {len(axis): axis}
    held = [(place, place) for place in range(len(axis))]  # first and last token of each position
    for _ in config.block_sizes[1:]:
        held = pooled(held, config.separate_cls, config.truncate_seq)
        sides.setdefault(len(held), spans(axis, held))
    return sides[n_queries], sides[n_keys]


def pooled(
    held: list[tuple[int, int]], separate_first: bool, drop_last: bool
) -> list[tuple[int, int]]:
    """The spans of the next block; a text that is too short stays as it is."""
    if len(held) <= (2 if separate_first else 1):
        return held
    if separate_first:
        held = held[:1] + (held[:-1] if drop_last else held)
    return [(pair[0][0], pair[-1][1]) for pair in (held[i : i + 2] for i in range(0, len(held), 2))]

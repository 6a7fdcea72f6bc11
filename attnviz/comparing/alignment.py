"""Which token of one text stands for which token of another."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from jaxtyping import Bool, Int

NONE = -1
"""Where a slot has no token of one of the texts."""


@dataclass(frozen=True, eq=False)
class Alignment:
    """Two sequences in common coordinates: slots, each with a token of A, of B, or of both.

    Both sequences run through their own slots in order. A slot with both is a pair.
    """

    a: Int[np.ndarray, " slots"] = field(repr=False)  # position in A, NONE where it has none
    b: Int[np.ndarray, " slots"] = field(repr=False)
    same: Bool[np.ndarray, " slots"] = field(repr=False)  # a pair whose tokens are equal

    def __post_init__(self) -> None:
        for array in (self.a, self.b, self.same):
            array.flags.writeable = False  # it is kept, and shared

    def __len__(self) -> int:
        return len(self.a)

    @property
    def paired(self) -> Bool[np.ndarray, " slots"]:
        """Slots that have a token of both."""
        return (self.a != NONE) & (self.b != NONE)

    @property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """(position in A, position in B) of every pair, in order."""
        there = self.paired
        return tuple(zip(self.a[there].tolist(), self.b[there].tolist(), strict=True))

    @property
    def sentence(self) -> str:
        """How much of each is paired, and how many of the pairs are the same token."""
        paired, same = int(self.paired.sum()), int(self.same.sum())
        n_a, n_b = (int((side != NONE).sum()) for side in (self.a, self.b))
        if paired == same == n_a == n_b:
            return "The one token is the same." if n_a == 1 else f"All {n_a:,} tokens are the same."
        if paired == 1:
            alike = "it is" if same else "it is not"
            return f"1 pair of tokens, of {n_a:,} in A and {n_b:,} in B; {alike} the same token."
        verb = "is" if same == 1 else "are"
        alike = f"; {same:,} of them {verb} the same on both sides" if paired else ""
        return f"{paired:,} pairs of tokens, of {n_a:,} in A and {n_b:,} in B{alike}."


def align(tokens_a: Sequence[Hashable], tokens_b: Sequence[Hashable]) -> Alignment:
    """Pair the tokens (ids or strings) of two sequences.

    As many equal tokens as can be paired in order: a longest common subsequence, as diff has it
    (Hunt and McIlroy 1976). Between them, a stretch that another of equal length has replaced is
    paired position by position; all else that only one of the two has stays without a partner.

    >>> align("the old cat".split(), "the cat".split()).pairs
    ((0, 0), (2, 1))
    >>> align("a cat sat".split(), "a dog sat".split()).pairs
    ((0, 0), (1, 1), (2, 2))
    """
    return _align(tuple(tokens_a), tuple(tokens_b))


@lru_cache(maxsize=32)
def _align(tokens_a: tuple[Hashable, ...], tokens_b: tuple[Hashable, ...]) -> Alignment:
    # What both begin with is paired as it stands; the search goes from the end.
    shorter = min(len(tokens_a), len(tokens_b))
    start = next((at for at in range(shorter) if tokens_a[at] != tokens_b[at]), shorter)
    equal = [(at, at) for at in range(start)]
    equal += [(start + i, start + j) for i, j in _common(tokens_a[start:], tokens_b[start:])]
    slots: list[tuple[int, int, bool]] = []
    i = j = 0
    for next_i, next_j in [*equal, (len(tokens_a), len(tokens_b))]:
        spans = range(i, next_i), range(j, next_j)
        if len(spans[0]) == len(spans[1]):
            slots += [(one, other, False) for one, other in zip(*spans, strict=True)]
        else:
            slots += [(one, NONE, False) for one in spans[0]]
            slots += [(NONE, other, False) for other in spans[1]]
        if next_i < len(tokens_a) and next_j < len(tokens_b):
            slots.append((next_i, next_j, True))
        i, j = next_i + 1, next_j + 1
    table = np.array(slots, dtype=np.int64).reshape(-1, 3)
    return Alignment(table[:, 0].copy(), table[:, 1].copy(), table[:, 2].astype(bool))


def _common(a: tuple[Hashable, ...], b: tuple[Hashable, ...]) -> list[tuple[int, int]]:
    """Positions of a longest common subsequence, a whole row of its table at a time.

    The bits of one integer are the row (Hyyro 2004): bit i is 0 where the common length grows
    with a[i]. Thousands of tokens that repeat take milliseconds.
    """
    places: dict[Hashable, int] = {}
    for i, token in enumerate(a):
        places[token] = places.get(token, 0) | 1 << i
    whole = (1 << len(a)) - 1
    row, table = whole, [whole]
    for token in b:
        met = row & places.get(token, 0)
        row = ((row + met) | (row - met)) & whole
        table.append(row)
    pairs = []
    i, j = len(a), len(b)
    while i and j:
        if table[j] >> (i - 1) & 1:
            i -= 1
        elif not table[j - 1] >> (i - 1) & 1:
            j -= 1
        else:
            i, j = i - 1, j - 1
            pairs.append((i, j))
    return pairs[::-1]

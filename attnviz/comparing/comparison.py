"""Two captures as one comparison: what pairs with what, and what moved."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float32

from attnviz.comparing.aligned import Aligned, Head, aligned_maps
from attnviz.comparing.alignment import Alignment, align
from attnviz.errors import AttnvizError

if TYPE_CHECKING:
    from attnviz.comparing.aligned import Maps
    from attnviz.comparing.changes import Changes
    from attnviz.models.progress import Progress

MARKS = re.compile("^(##|·)+")
"""How tokenizers spell a word's beginning or its continuation."""


@dataclass(frozen=True, eq=False)
class Comparison:
    """Two runs, A and B, in common coordinates: texts, models or checkpoints that differ.

    Nothing is ever renormalised: what a row gives to keys without a partner is simply not in
    the paired cells.
    """

    a: Maps
    b: Maps
    rows: Alignment
    cols: Alignment  # the same object as rows, where queries and keys are the same tokens
    marks_ignored: bool = field(default=False)  # two tokenizers: paired by letters alone

    @property
    def signed(self) -> bool:
        """These are effective maps."""
        return self.a.signed

    @property
    def same_shape(self) -> bool:
        """Whether every head of A has its counterpart: equal layers with as many heads."""
        one, other = ([(at.index, at.n_heads) for at in side.captured] for side in (self.a, self.b))
        return one == other

    @property
    def ranked(self) -> bool:
        """Whether heads can be ranked: each has its counterpart, and some queries are paired."""
        return self.same_shape and bool(self.rows.paired.any())

    @property
    def sentences(self) -> tuple[str, ...]:
        """What was paired, and why there may be no table of heads."""
        told = [self.rows.sentence if self.rows is self.cols else f"Queries: {self.rows.sentence}"]
        if self.rows is not self.cols:
            told.append(f"Keys: {self.cols.sentence}")
        if self.marks_ignored:
            told.append(
                "The two tokenizers differ, so tokens are paired by their letters: capitals and "
                "the marks of a word's beginning do not count."
            )
        if not self.rows.paired.any():
            told.append(
                "No token of one text stands for one of the other, so nothing can be subtracted "
                "and heads are not ranked."
            )
        if self.same_shape and self.a.model_name != self.b.model_name:
            told.append(
                "A and B are two models of one shape: heads of one number are counterparts where "
                "the two are checkpoints of one training, and not otherwise."
            )
        if not self.same_shape:
            told.append(
                f"A has {_shape(self.a)}, B has {_shape(self.b)}: no head of one is the "
                "counterpart of a head of the other, so heads are not ranked. Choose one in each."
            )
        return tuple(told)

    def maps(
        self, head: Head, head_b: Head | None = None, block: int = 1
    ) -> tuple[Aligned, Aligned, Aligned]:
        """(A's map, B's, B - A) in common coordinates; see aligned_maps.

        head is (true layer index, head) of A, and of B unless head_b is given. Raises
        AttnvizError for a head that is not there.
        """
        other = head if head_b is None else head_b
        return aligned_maps(self.a, head, self.b, other, self.rows, self.cols, block)

    def difference(
        self, head: Head, head_b: Head | None = None
    ) -> Float32[np.ndarray, "down across"]:
        """B - A of one head, a cell for each two slots; NaN where either has no such token."""
        return self.maps(head, head_b)[2].values

    def changes(self, *, size: int = 32, progress: Progress | None = None) -> Changes:
        """Every head, the most changed first. AttnvizError where the two have other heads."""
        from attnviz.comparing.changes import changes
        from attnviz.models.progress import silent

        if not self.same_shape:
            raise AttnvizError(self.sentences[-1])
        return changes(self.a, self.b, self.rows, self.cols, size=size, progress=progress or silent)


def compare(a: Maps, b: Maps, group: str | None = None) -> Comparison:
    """Pair the tokens of two captures (or of the effective maps of two captures).

    group: one of the stacks that both have, the first of each unless given. Tokens are paired
    as they are shown; those of two different tokenizers by their letters alone.

    >>> import attnviz as av
    >>> model = av.load_model("induction-2l")
    >>> found = compare(av.capture(model, "abcdabcd"), av.capture(model, "abcdabxd"))
    >>> found.rows.sentence
    '8 pairs of tokens, of 8 in A and 8 in B; 7 of them are the same on both sides.'
    >>> found.difference((1, 0)).shape
    (8, 8)
    """
    for side in (a, b):
        if not hasattr(side, "captured"):
            raise AttnvizError(
                f"Two captures are compared, not {type(side).__name__}; make them with av.capture."
            )
    if a.signed != b.signed:
        raise AttnvizError(
            "Softmax weights and signed effective maps are not on one scale; compare maps of one "
            "kind."
        )
    for side in (a, b):
        if not side.captured:
            raise AttnvizError(f"No layer of {side.model_name} has maps that could be compared.")
    a, b = (getattr(side, "of", lambda _, side=side: side)(group) for side in (a, b))
    foreign = not _one_tokenizer(a, b)
    rows = align(_names(a.tokens, foreign), _names(b.tokens, foreign))
    cols = rows
    keys = [_keys(side) for side in (a, b)]
    if keys != [a.tokens, b.tokens]:
        cols = align(*(_names(labels, foreign) for labels in keys))
    return Comparison(a, b, rows, cols, foreign)


def _keys(maps: Maps) -> tuple[str, ...]:
    return getattr(maps, "key_tokens", maps.tokens)


def _names(labels: Sequence[str], foreign: bool) -> list[Hashable]:
    if not foreign:
        return list(labels)
    return [(MARKS.sub("", label) or label).casefold() for label in labels]


def _one_tokenizer(a: Maps, b: Maps) -> bool:
    """Whether both split text into the same tokens, as far as can be known."""
    one, other = (getattr(side, "tokenizer", None) for side in (a, b))
    if one is other or not all(hasattr(side, "get_vocab") for side in (one, other)):
        return one is other or a.model_name == b.model_name
    return one.get_vocab() == other.get_vocab()  # type: ignore[union-attr]


def _shape(maps: Maps) -> str:
    counts = {layer.n_heads for layer in maps.captured}
    heads = str(counts.pop()) if len(counts) == 1 else f"{min(counts)} to {max(counts)}"
    return f"{len(maps.captured)} layers of {heads} heads"

"""One side of a map by tokens or by words, and which of its units are in sight."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Int

from attnviz.errors import AttnvizError
from attnviz.models.axis import Axis
from attnviz.models.words import words_of


@dataclass(frozen=True, eq=False)
class Side:
    """One side of the maps: which tokens each unit spans, and which units are shown."""

    starts: Int[np.ndarray, " units"]  # each unit's first token
    length: int  # tokens
    shown: Int[np.ndarray, " shown"]  # numbers of the units that are shown
    axis: Axis  # all units, as shown

    @cached_property
    def stops(self) -> Int[np.ndarray, " units"]:
        return np.append(self.starts[1:], self.length)

    @cached_property
    def visible(self) -> Axis:
        """What is shown of it."""
        return self.axis.only(self.shown.tolist())


def side_of(tokenizer: Any, axis: Axis, words: bool, hide: bool) -> Side:
    """A side by tokens or by words, with its special ones or without."""
    starts, units = tuple(range(len(axis))), axis
    if words:
        found = words_of(tokenizer, axis)
        starts, units = found.starts, found.axis
    special = np.array(units.special, dtype=bool) & hide
    if special.all():
        raise AttnvizError("There are only special tokens here; nothing would be left to show.")
    return Side(np.array(starts), len(axis), np.flatnonzero(~special), units)

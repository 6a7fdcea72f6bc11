"""What stands along regrouped maps, by the names that a capture has for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from attnviz.models.axis import Axis
from attnviz.models.layer import Layer
from attnviz.models.sides import Side


@dataclass(frozen=True, eq=False)
class Shown:
    """The units of the two sides, and the run that they are of."""

    base: Any  # a Capture or EffectiveMaps, by tokens
    rows: Side
    cols: Side
    words: bool
    renormalised: bool = False

    @property
    def model_name(self) -> str:
        return self.base.model_name

    @property
    def text(self) -> str:
        return self.base.text

    @property
    def captured(self) -> tuple[Layer, ...]:
        return self.base.captured

    @property
    def signed(self) -> bool:
        return self.base.signed

    @property
    def nature(self) -> str:
        """Of effective maps what they are: signed, shares, waves or mixing."""
        return getattr(self.base, "nature", "")

    @property
    def group(self) -> str:
        """Which stack of maps this is."""
        return getattr(self.base, "group", "self")

    @property
    def unit(self) -> str:
        """What a row is: a word or a token."""
        return "word" if self.words else "token"

    @property
    def hides(self) -> bool:
        """Whether some keys are left out."""
        return len(self.cols.shown) < len(self.cols.starts)

    @property
    def code(self) -> str:
        """What makes these of a capture, in Python."""
        bare = f".without_special({'renormalise=True' if self.renormalised else ''})"
        return (".by_words()" if self.words else "") + (bare if self.hides else "")

    @property
    def tokens(self) -> tuple[str, ...]:
        return self.rows.visible.labels

    @property
    def token_details(self) -> tuple[str, ...]:
        return self.rows.visible.details

    @property
    def token_ids(self) -> tuple[int, ...]:
        """Of each unit's first token."""
        return self.rows.visible.ids

    @property
    def special(self) -> tuple[bool, ...]:
        return self.rows.visible.special

    @property
    def roles(self) -> tuple[str, ...]:
        return self.rows.visible.roles

    @property
    def written(self) -> Axis | None:
        """The new tokens where the model wrote on; None where its words may span both texts."""
        written = getattr(self.base, "written", None)
        rows = self.rows.length - (0 if written is None else len(written) - 1)
        whole = np.isin(np.arange(rows, self.rows.length), self.rows.shown).all()
        return written if whole and not self.words else None

    @property
    def keys(self) -> Axis | None:
        return None if getattr(self.base, "keys", None) is None else self.cols.visible

    @property
    def key_tokens(self) -> tuple[str, ...]:
        return self.cols.visible.labels

    @property
    def n_tokens(self) -> int:
        return len(self.rows.shown)

    @property
    def n_keys(self) -> int:
        return len(self.cols.shown)

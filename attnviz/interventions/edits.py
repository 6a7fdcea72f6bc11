"""What can be changed in a run, each as a small value that says itself in words."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass

from attnviz.errors import AttnvizError


@dataclass(frozen=True)
class Knockout:
    """Put nothing, or this head's own mean over the text's positions, in place of its output.

    Zero: Michel et al. 2019 (Are Sixteen Heads Really Better than One?, section 2.3). Mean: the
    usual remedy for a zero that the layers after it never saw (Wang et al. 2022, Interpretability
    in the Wild, section 2.2), here over one text instead of a reference distribution.
    """

    layer: int
    head: int
    by: str = "zero"  # or "mean"
    group: str | None = None

    def __post_init__(self) -> None:
        _require_whole(self.layer, self.head)
        if self.by not in ("zero", "mean"):
            raise AttnvizError(f"A head is replaced by 'zero' or 'mean', not {self.by!r}.")

    def __str__(self) -> str:
        word = "removed" if self.by == "zero" else "replaced by its mean"
        return f"{_head(self)} {word}"


@dataclass(frozen=True)
class Scale:
    """Multiply a head's output: 1 changes nothing, 0 is a knock-out, 2 doubles it."""

    layer: int
    head: int
    factor: float
    group: str | None = None

    def __post_init__(self) -> None:
        _require_whole(self.layer, self.head)
        if not isinstance(self.factor, (int, float)) or not abs(self.factor) < 1e6:
            raise AttnvizError(f"A head's factor must be a number below 1e6, not {self.factor!r}.")

    def __str__(self) -> str:
        return f"{_head(self)} times {self.factor:g}"


@dataclass(frozen=True)
class Patch:
    """Give a head the output that it has on another text, position by position.

    Activation patching (Meng et al. 2022, ROME, section 2.1; Wang et al. 2022, section 3.2): where
    the prediction follows the other text, this head carried what differs. Both texts must have
    the same number of tokens.
    """

    layer: int
    head: int
    text: str
    group: str | None = None

    def __post_init__(self) -> None:
        _require_whole(self.layer, self.head)

    def __str__(self) -> str:
        return f"{_head(self)} as on another text"


@dataclass(frozen=True)
class HideToken:
    """No other token may read this one, in any head of any layer (or in those named)."""

    position: int
    layer: int | None = None
    head: int | None = None
    group: str | None = None

    def __post_init__(self) -> None:
        _require_whole(self.position, self.layer, self.head)

    def __str__(self) -> str:
        return f"token {self.position} hidden from the others{_where(self)}"


@dataclass(frozen=True)
class HideEdge:
    """This query may not read this key, in any head of any layer (or in those named).

    Attention knock-out (Geva et al. 2023, Dissecting Recall of Factual Associations, section 4):
    the score becomes minus infinity, and the row's other weights make up for it.
    """

    query: int
    key: int
    layer: int | None = None
    head: int | None = None
    group: str | None = None

    def __post_init__(self) -> None:
        _require_whole(self.query, self.key, self.layer, self.head)

    def __str__(self) -> str:
        return f"token {self.query} cannot read {self.key}{_where(self)}"


Edit = Knockout | Scale | Patch | HideToken | HideEdge


def require_edits(edits: object) -> None:
    """AttnvizError for what is no list of edits: a change that none is would go unseen."""
    for edit in edits if isinstance(edits, Sequence) else (edits,):
        if not isinstance(edit, Edit) or edit is edits:
            raise AttnvizError(
                "Edits are a list of Knockout, Scale, Patch, HideToken and HideEdge; received "
                f"{edit!r}."
            )


def _require_whole(*numbers: object) -> None:
    for number in numbers:
        try:
            operator.index(0 if number is None else number)  # type: ignore[arg-type]
        except TypeError:
            raise AttnvizError(
                f"Layers, heads and tokens are whole numbers, not {number!r}."
            ) from None


def _head(edit: Knockout | Scale | Patch) -> str:
    words = f"layer {edit.layer}, head {edit.head}"
    return words if edit.group is None else f"{edit.group} {words}"


def _where(edit: HideToken | HideEdge) -> str:
    words = "" if edit.group is None else f" in {edit.group} maps"
    if edit.layer is not None:
        words += f" in layer {edit.layer}"
    return words if edit.head is None else f"{words}, head {edit.head}"

"""What stands along one side of a map: tokens, patches of a picture, or bare positions."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Axis:
    """One side of a map, an entry a position."""

    labels: tuple[str, ...]  # as shown
    details: tuple[str, ...]  # hover texts
    ids: tuple[int, ...]  # as sent to the model; below 0 for what is no token, of a picture places
    special: tuple[bool, ...]  # stands for no text and no patch: [CLS], <s>
    roles: tuple[str, ...] = ()  # who says it, in a chat; empty elsewhere
    grid: tuple[int, int] | None = None  # (rows, columns) of patches; specials stand before them
    patch: int = 0  # pixels along a side of one; the last ones may be cut by the picture's edge

    def __len__(self) -> int:
        return len(self.labels)

    def __add__(self, other: Axis) -> Axis:
        """Both, one after the other, for a layer that reads two things at once."""
        return Axis(
            self.labels + other.labels,
            self.details + other.details,
            self.ids + other.ids,
            self.special + other.special,
        )

    def only(self, kept: list[int]) -> Axis:
        """These positions of it, in this order."""
        return replace(
            self,
            labels=tuple(self.labels[place] for place in kept),
            details=tuple(self.details[place] for place in kept),
            ids=tuple(self.ids[place] for place in kept),
            special=tuple(self.special[place] for place in kept),
            roles=tuple(self.roles[place] for place in kept) if self.roles else (),
            grid=None,
            patch=0,
        )


def no_tokens(count: int) -> tuple[int, ...]:
    """Ids of so many things that no tokenizer knows: each is another one, and all are below 0."""
    return tuple(range(-1, -1 - count, -1))


def places(length: int, word: str = "position") -> Axis:
    """Bare positions, for what is no text: frames of a sound, queries of a detector, latents."""
    return Axis(
        labels=tuple(f"{word} {place}" for place in range(length)),
        details=tuple(f"{word} {place} of {length}" for place in range(length)),
        ids=no_tokens(length),
        special=(False,) * length,
    )


def own_tokens(count: int, label: str, detail: str) -> Axis:
    """Places that are the model's own and no text: global tokens, summaries of blocks."""
    return Axis(
        labels=tuple(f"{label} {place}" for place in range(count)),
        details=tuple(f"{detail} {place}, the model's own" for place in range(count)),
        ids=no_tokens(count),
        special=(True,) * count,
    )


def patches(rows: int, columns: int, patch: int, specials: tuple[str, ...] = ()) -> Axis:
    """The patches of a picture, row by row, after the model's own tokens ([CLS]).

    patch: pixels along a side of each, counted from the picture's top left.
    """
    grid = [(row, column) for row in range(rows) for column in range(columns)]
    return Axis(
        labels=(*specials, *(f"r{row}c{column}" for row, column in grid)),
        details=(
            *(f"{name}, a token of the model's own" for name in specials),
            *(
                f"patch in row {row} of {rows}, column {column} of {columns}"
                for row, column in grid
            ),
        ),
        ids=tuple(range(len(specials) + len(grid))),
        special=(True,) * len(specials) + (False,) * len(grid),
        grid=(rows, columns),
        patch=patch,
    )


def cells(rows: int, columns: int, tall: float, wide: float) -> Axis:
    """The places of a feature map, each of which stands for tall x wide pixels of the picture.

    Where these are no squares of whole pixels there is no grid to lay over it.
    """
    axis = patches(rows, columns, int(tall))
    return axis if tall == wide == int(tall) else replace(axis, grid=None, patch=0)


def spans(axis: Axis, starts: list[tuple[int, int]]) -> Axis:
    """Pooled positions, each by the first and the last of the positions that it stands for."""
    labels, details = [], []
    for first, last in starts:
        a, b = axis.labels[first], axis.labels[last]
        labels.append(a if first == last else f"{a}…{b}")
        details.append(
            axis.details[first] if first == last else f"pooled positions {first} to {last}"
        )
    return Axis(
        tuple(labels),
        tuple(details),
        no_tokens(len(starts)),
        tuple(axis.special[first] and axis.special[last] for first, last in starts),
    )

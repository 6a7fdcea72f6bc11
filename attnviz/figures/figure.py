"""What a picture is made of, before anything draws it: panels of numbers with named axes.

A figure is data. The explorer component draws it on a canvas, the exports write it to files;
both read the same arrays, so what is seen is what was computed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float32

from attnviz.errors import AttnvizError

Scale = Literal["weight", "signed", "magnitude", "flag"]
"""weight: sequential on [0, 1]; signed: diverging, symmetric about 0; magnitude: sequential on
[0, largest]; flag: 0 or 1, in one grey."""

Accent = Literal["plain", "query", "key", "value", "mask", "output"]
"""The one colour that a tensor keeps in prose, formula and figure."""

Show = Literal["matrix", "lines", "text", "compare"]
ColourScale = Literal["absolute", "row", "log"]
Reading = Literal["from", "to"]
Lay = Literal["columns", "rows"]
Order = Literal[
    "", "down", "up"
]  # of heads by a metric: in their places, largest or smallest first
Hidden = Literal["first", "special"]  # the first key; special tokens

MOST_OTHERS = 5
"""Maps beside the open one: as many as have a colour of their own."""


@dataclass(frozen=True)
class Axis:
    """One side of a panel: a position per label, repeated labels staying apart.

    name links panels ("query" on two panels is the same axis: hovering one marks the other).
    title says in words what runs along it. details, if given, are the hover texts. special, if
    given, says which positions a reader may want to hide ([CLS], [SEP], <s>). written, if given,
    is the first position that the model wrote itself: it and those after it are marked.
    """

    name: str
    title: str
    labels: tuple[str, ...]
    details: tuple[str, ...] | None = None
    special: tuple[bool, ...] | None = None
    written: int | None = None

    def __post_init__(self) -> None:
        for what, given in (("details", self.details), ("special", self.special)):
            if given is not None and len(given) != len(self.labels):
                raise AttnvizError(
                    f"Axis {self.name!r} has {len(self.labels)} labels but {len(given)} {what}: "
                    "give one for each label."
                )


@dataclass(frozen=True)
class Panel:
    """One matrix to draw: rows run down, columns run right, the origin is top left.

    A matrix too large to send whole is an overview: block > 1, and each of values is the largest
    of block x block cells, the last blocks being cut; blocked says where all of them are masked,
    and tops gives each row's largest value. Exact parts are asked for as a reader zooms in.
    """

    id: str  # a stable word: it appears in links and file names
    title: str
    values: Float32[np.ndarray, "down across"]  # NaN: undefined there
    rows: Axis
    cols: Axis
    scale: Scale = "weight"
    blocked: Bool[np.ndarray, "down across"] | None = None  # True: masked, drawn hatched
    subtitle: str = ""  # plain text: the shape, the formula
    accent: Accent = "plain"
    limit: float | None = None  # a fixed end of the colour scale, for panels to be compared
    value_name: str = ""  # what one cell is called; "" means weight or value, by the scale
    block: int = 1
    tops: Float32[np.ndarray, " rows"] | None = None
    made_from: tuple[str, ...] = ()  # ids of the panels that it was computed from, in order
    grows_from: int | None = None
    """Of a text that a model wrote: how many tokens stood there before the first written one."""

    def __post_init__(self) -> None:
        sides = (len(self.rows.labels), len(self.cols.labels))
        if 0 in sides:
            raise AttnvizError(
                f"Panel {self.id!r} has {sides[0]} rows and {sides[1]} columns; a picture "
                "needs one of each at least."
            )
        expected = tuple(-(-side // self.block) for side in sides)
        if self.block > 1 and (self.tops is None or self.tops.shape != sides[:1]):
            raise AttnvizError(
                f"Panel {self.id!r} is an overview of {sides[0]} rows and needs the largest value "
                "of each."
            )
        if self.values.shape != expected:
            raise AttnvizError(
                f"Panel {self.id!r} has values of shape {self.values.shape} but labels for "
                f"{expected}."
            )
        if self.grows_from is not None and not (
            self.block == 1 and sides[0] == sides[1] and 0 < self.grows_from <= sides[0]
        ):
            raise AttnvizError(
                f"Panel {self.id!r} grows from {self.grows_from} tokens; expected a square map, "
                f"sent whole, and 1 to {min(sides)} tokens."
            )
        if self.blocked is not None and self.blocked.shape != expected:
            raise AttnvizError(
                f"Panel {self.id!r} has a mask of shape {self.blocked.shape}; expected {expected}."
            )

    @property
    def value_word(self) -> str:
        """What a readout calls one cell."""
        return self.value_name or ("weight" if self.scale == "weight" else "value")


@dataclass(frozen=True)
class Grid:
    """Thumbnails of many maps, one per (row, column), rows being layers and columns heads.

    stack, where it is small enough to send, holds every map exactly, so that switching needs no
    server: the figure's first panel then gives its axes, mask and scale to all of them. Without
    it the first panel is one map: that of `first`, where the explorer may ask for the others.
    """

    thumbnails: Float32[np.ndarray, "layers heads size size"]  # pooled, for the eye only
    layers: tuple[int, ...]  # the true index of each row
    metrics: Mapping[str, Float32[np.ndarray, "layers heads"]] = field(default_factory=dict)
    stack: Float32[np.ndarray, "layers heads rows cols"] | None = None
    kv_heads: int | None = None  # query heads are grouped evenly on these
    first: tuple[int, int] | None = None  # (true layer index, head) of the figure's first panel
    word: str = "head"  # what each map of a layer is of: "channel" where a mixer works by channel

    def __post_init__(self) -> None:
        n_layers, n_heads = self.thumbnails.shape[:2]
        if len(self.layers) != n_layers:
            raise AttnvizError(
                f"The grid has thumbnails for {n_layers} layers but {len(self.layers)} layer "
                "indices: give one for each."
            )
        for name, values in self.metrics.items():
            if values.shape != (n_layers, n_heads):
                raise AttnvizError(
                    f"The metric {name!r} has shape {values.shape}; expected one number for each "
                    f"of {n_layers} layers and {n_heads} heads."
                )
        if self.kv_heads is not None and (self.kv_heads < 1 or n_heads % self.kv_heads):
            raise AttnvizError(
                f"{n_heads} query heads cannot be shared evenly by {self.kv_heads} KV heads."
            )
        if self.stack is not None and self.stack.shape[:2] != (n_layers, n_heads):
            raise AttnvizError(
                f"The stack holds {self.stack.shape[:2]} maps; the grid shows "
                f"{(n_layers, n_heads)}."
            )


def squares(
    maps: Float32[np.ndarray, "*some queries keys"],
) -> Float32[np.ndarray, "*some side side"]:
    """Thumbnails are square: of cross-attention's maps, the shorter side's cells are repeated."""
    side = np.arange(max(maps.shape[-2:]))
    rows, cols = (side * n // len(side) for n in maps.shape[-2:])
    return maps[..., rows[:, None], cols]


@dataclass(frozen=True)
class Look:
    """How the reader has the figure drawn; the defaults are how it is drawn for a newcomer."""

    show: Show = "matrix"
    scale: ColourScale | None = None  # None: by the size of the map
    least: float = 0.0  # weights below are drawn as nothing; on [0, 1]
    palette: str = ""  # a name of palette.SEQUENTIAL; "" is its first
    metric: str = ""  # the name of the grid's metric that colours the thumbnails; "": the maps
    order: Order = ""
    cut: float | None = None  # of that metric: heads with less are faded, or with more where "up"
    others: tuple[str, ...] = ()  # maps beside the open one: "layer.head", or the id of a panel
    row: bool = False  # the chosen query's keys as ranked bars
    table: bool = False  # the numbers in sight, as a table
    lines: Lay = "columns"  # how the two texts that lines join are laid out
    reading: Reading = "from"  # in the text: what a query attends to, or who attends to a key
    hide: tuple[Hidden, ...] = ()
    at: int | None = None  # the step of the figure's walk that is shown; None: all of it
    zoom: tuple[float, float, float] | None = None
    """What of the maps is in sight: how many times larger than the whole, the first drawn row and
    column, which may be cut. None: all."""
    zoomed: str = ""  # the panel that it is of, and of those with the same axes; "": the first


@dataclass(frozen=True)
class Selection:
    """What the reader points at, and how it is drawn. None: nothing chosen."""

    layer: int | None = None  # true layer index
    head: int | None = None
    panel: str | None = None
    row: int | None = None
    col: int | None = None
    to: tuple[int, int] | None = None  # last row and column of a block that begins there
    look: Look = Look()


@dataclass(frozen=True)
class Figure:
    """Everything one mount of the explorer draws."""

    title: str
    alt: str  # a sentence that stands in for the picture
    panels: tuple[Panel, ...]
    grid: Grid | None = None
    settings: str = ""  # one line for exports: model, layer, head, seed
    file_stem: str = "attnviz"
    snippet: str = ""
    """Python that computes these numbers and prints them. Where there is a grid it may use the
    true `layer` and the `head`, which the reader chooses and which are set before it."""
    walk: tuple[str, ...] = ()
    """Ids of panels to be played one after another, each beside what it was made from. Of a panel
    that grows there is none to name: it plays a token at a time."""
    blocks: bool = False
    """Whether a reader may choose a block of cells too: the page does something with it."""

    def __post_init__(self) -> None:
        ids = [panel.id for panel in self.panels]
        if len(set(ids)) != len(ids):
            raise AttnvizError(f"Panel ids must differ; got {ids}.")
        named = {*self.walk, *(source for panel in self.panels for source in panel.made_from)}
        if not named <= set(ids):
            raise AttnvizError(
                f"The walk and the sources name {sorted(named)}; expected only panels of {ids}."
            )
        stack = self.grid.stack if self.grid else None
        if stack is not None:
            shape = self.panels[0].values.shape if self.panels else None
            if shape != stack.shape[2:]:
                raise AttnvizError(
                    f"The stack's maps have shape {stack.shape[2:]}, so the first panel must too; "
                    f"it has {shape}."
                )

    @property
    def n_steps(self) -> int:
        """Steps that the player has for it; 0 where there is nothing to play."""
        if self.walk:
            return len(self.walk)
        first = self.panels[0] if self.panels else None
        if first is None or first.grows_from is None:
            return 0
        return len(first.rows.labels) - first.grows_from + 1

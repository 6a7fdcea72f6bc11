"""A Figure as one binary buffer for the browser.

Layout: a little-endian u32, the length of the JSON header; the header, padded with spaces to a
multiple of 4; the arrays, each starting at a multiple of 4. The header names arrays by their
place in its "arrays" list. Equal figures give equal bytes, so a rerun that changes nothing sends
nothing; equal arrays are stored once, and each has a digest by which the browser keeps what it
has already drawn.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from attnviz.figures import palette
from attnviz.figures.figure import Axis, Figure, Grid, Panel, Selection
from attnviz.figures.parts import Part

_KINDS = {"float32": "f4", "uint8": "u1"}


class Arrays:
    """The arrays of one buffer, in order, each stored once."""

    def __init__(self) -> None:
        self.chunks: list[bytes] = []
        self.entries: list[dict[str, Any]] = []
        self._places: dict[tuple[str, tuple[int, ...]], int] = {}
        self._offset = 0

    def add(self, values: np.ndarray) -> int:
        data = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<")).tobytes()
        digest = _digest(data)
        place = self._places.setdefault((digest, values.shape), len(self.entries))
        if place == len(self.entries):
            self.entries.append(
                {
                    "kind": _KINDS[values.dtype.name],
                    "shape": list(values.shape),
                    "offset": self._offset,
                    "digest": digest,
                }
            )
            self.chunks.append(data + b"\0" * (-len(data) % 4))
            self._offset += len(self.chunks[-1])
        return place


@dataclass(frozen=True)
class Packed:
    """A figure taken apart: everything but the selection."""

    header: dict[str, Any]
    chunks: list[bytes]

    @property
    def digest(self) -> str:
        """The same for the same figure. (The header holds the digests of the arrays.)"""
        return _digest(_json(self.header))

    def joined(
        self, selection: Selection, push: int, key: str = "", more: dict[str, Any] | None = None
    ) -> bytes:
        """The buffer. push counts the times Python set the selection: the browser takes the
        selection of a buffer whose push it has not seen, and otherwise keeps its own. id is the
        figure's: what the browser was sent of one figure is never taken for another's. key is
        the mount's, by which it finds its wire. more is of the message, not of the figure."""
        said = {"selection": asdict(selection), "push": push, "id": self.digest, "key": key}
        return buffer(self.header | said | (more or {}), self.chunks)


def buffer(header: dict[str, Any], chunks: list[bytes]) -> bytes:
    """Header and arrays in one piece."""
    text = _json(header)
    text += b" " * (-len(text) % 4)
    return b"".join([struct.pack("<I", len(text)), text, *chunks])


def take_apart(figure: Figure, heads: Mapping[tuple[int, int], Part] | None = None) -> Packed:
    """Header and arrays of a figure, and of more heads of it: by true layer index and head."""
    arrays = Arrays()
    axes = _Axes()
    header = {
        "title": figure.title,
        "alt": figure.alt,
        "settings": figure.settings,
        "fileStem": figure.file_stem,
        "snippet": figure.snippet,
        "walk": list(figure.walk),
        "blocks": figure.blocks,
        "accents": {name: list(pair) for name, pair in palette.ACCENTS.items()},
        "palettes": {
            "sequential": [arrays.add(palette.sequential(dark)) for dark in (False, True)],
            "diverging": [arrays.add(palette.diverging(dark)) for dark in (False, True)],
            "named": {
                name: [arrays.add(palette.sequential(dark, name)) for dark in (False, True)]
                for name in palette.SEQUENTIAL
            },
            "lines": [list(colours) for colours in palette.LINES],
        },
        "panels": [_panel(panel, arrays, axes) for panel in figure.panels],
        "axes": axes.entries,
        "lists": axes.lists,
        "grid": None if figure.grid is None else _grid(figure, figure.grid, arrays),
        "parts": [
            {"layer": layer, "head": head, **part_entry(part, arrays)}
            for (layer, head), part in (heads or {}).items()
        ],
        "arrays": arrays.entries,
    }
    return Packed(header, arrays.chunks)


def part_entry(part: Part, arrays: Arrays) -> dict[str, Any]:
    """What the browser reads a part from."""
    blocked = part.blocked.astype(np.uint8) if part.blocked.any() else None
    return {
        "block": part.block,
        "values": arrays.add(np.asarray(part.values, np.float32)),
        "blocked": None if blocked is None else arrays.add(blocked),
        "tops": None if part.tops is None else arrays.add(np.asarray(part.tops, np.float32)),
    }


def pack(figure: Figure, selection: Selection | None = None, push: int = 0) -> bytes:
    """Everything one mount of the explorer needs, in one buffer."""
    return take_apart(figure).joined(selection or Selection(), push)


def quantise(thumbnails: np.ndarray, signed: bool) -> np.ndarray:
    """uint8 thumbnails for the eye: each on its own scale, the square root of |value| / largest.

    Signed, 128 is 0 and the two signs go to the two sides.
    """
    finite = np.nan_to_num(thumbnails, nan=0.0, posinf=0.0, neginf=0.0)
    largest = np.abs(finite).max(axis=(-2, -1), keepdims=True, initial=0.0)
    part = np.sqrt(np.abs(finite) / np.where(largest > 0, largest, 1))
    if signed:
        return (128 + np.sign(finite) * part * 127).round().astype(np.uint8)
    return (part * 255).round().astype(np.uint8)


class _Axes:
    """The axes of one buffer, each stored once, and so their labels, which two sides may share."""

    def __init__(self) -> None:
        self.entries: list[dict[str, Any]] = []
        self.lists: list[tuple[Any, ...]] = []
        self._known: list[Axis] = []

    def add(self, axis: Axis) -> int:
        if axis not in self._known:
            self._known.append(axis)
            lists = (axis.labels, axis.details, axis.special)
            labels, details, special = map(self._add_list, lists)
            self.entries.append(
                {
                    "name": axis.name,
                    "title": axis.title,
                    "labels": labels,
                    "details": details,
                    "special": special,
                    "written": axis.written,
                }
            )
        return self._known.index(axis)

    def _add_list(self, entries: tuple[Any, ...] | None) -> int | None:
        if entries is None:
            return None
        if entries not in self.lists:
            self.lists.append(entries)
        return self.lists.index(entries)


def _panel(panel: Panel, arrays: Arrays, axes: _Axes) -> dict[str, Any]:
    return {
        "id": panel.id,
        "title": panel.title,
        "subtitle": panel.subtitle,
        "scale": panel.scale,
        "limit": panel.limit,
        "accent": panel.accent,
        "valueName": panel.value_word,
        "rows": axes.add(panel.rows),
        "cols": axes.add(panel.cols),
        "values": arrays.add(np.asarray(panel.values, np.float32)),
        "blocked": None if panel.blocked is None else arrays.add(panel.blocked.astype(np.uint8)),
        "block": panel.block,
        "tops": None if panel.tops is None else arrays.add(np.asarray(panel.tops, np.float32)),
        "madeFrom": list(panel.made_from),
        "growsFrom": panel.grows_from,
    }


def _grid(figure: Figure, grid: Grid, arrays: Arrays) -> dict[str, Any]:
    # A signed map without a negative cell keeps the colours of its kind.
    signed = figure.panels[0].scale == "signed" if figure.panels else False
    signed = signed or bool((grid.thumbnails < 0).any())
    return {
        "layers": list(grid.layers),
        "heads": grid.thumbnails.shape[1],
        "kvHeads": grid.kv_heads,
        "word": grid.word,
        "signed": signed,
        "thumbnails": arrays.add(quantise(grid.thumbnails, signed)),
        "metrics": [
            {"name": name, "values": arrays.add(np.asarray(values, np.float32))}
            for name, values in grid.metrics.items()
        ],
        "first": None if grid.first is None else list(grid.first),
        "stack": None if grid.stack is None else arrays.add(np.asarray(grid.stack, np.float32)),
    }


def _json(value: dict[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode(errors="replace")


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]

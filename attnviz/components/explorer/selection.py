"""Whose selection counts: the reader's, in the browser, or the script's, in Python.

The reader's stays until the script asks for something new. A script that merely hands back what
the explorer told it (through a link's parameters, perhaps a run late) asks for nothing new.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from attnviz.components.explorer.look import drawable, look_of
from attnviz.figures.figure import Figure, Selection


@dataclass
class Memory:
    """What the last run of one mount passed on, kept in the session."""

    argument: Selection | None = None
    returned: Selection | None = None
    figure: str = ""  # digest of the figure's bytes
    packed: Selection | None = None  # the selection sent inside the bytes
    push: int = 0


def settle(
    memory: Memory, argument: Selection | None, reported: Selection | None
) -> tuple[Selection, bool]:
    """The selection now, and whether the script has just set it."""
    new = argument is not None and argument != memory.argument
    if argument is not None and new and argument not in (reported, memory.returned):
        return argument, True
    return reported or argument or Selection(), False


def read(state: Any) -> Selection | None:
    """The browser's report, or None where there is none or it is not one."""
    report = state.get("selection") if isinstance(state, Mapping) else None
    if not isinstance(report, Mapping):
        return None
    numbers = {name: report.get(name) for name in ("layer", "head", "row", "col")}
    if any(type(value) is not int and value is not None for value in numbers.values()):
        return None
    panel = report.get("panel")
    return Selection(
        panel=panel if isinstance(panel, str) else None,
        to=corner(report.get("to")),
        look=look_of(report.get("look")),
        **numbers,
    )


def corner(said: Any) -> tuple[int, int] | None:
    """The last row and column of a block in a client's words; None where they are not."""
    if not isinstance(said, list | tuple) or [type(number) for number in said] != [int, int]:
        return None
    return said[0], said[1]


def within(selection: Selection, figure: Figure) -> Selection:
    """The same selection without what this figure does not have: any client may send any number."""
    selection = replace(selection, look=drawable(selection.look, figure))
    grid = figure.grid
    layers, n_heads = (grid.layers, grid.thumbnails.shape[1]) if grid else ((), 0)
    if selection.layer not in layers or selection.head not in range(n_heads):
        selection = replace(selection, layer=None, head=None)
    panel = next((p for p in figure.panels if p.id == selection.panel), None)
    if panel is None:
        return replace(selection, panel=None, row=None, col=None, to=None)
    n_rows, n_cols = len(panel.rows.labels), len(panel.cols.labels)
    if selection.row not in range(n_rows) or selection.col not in range(n_cols):
        return replace(selection, panel=None, row=None, col=None, to=None)
    if selection.to is not None and not _spans(selection, figure, n_rows, n_cols):
        return replace(selection, to=None)
    return selection


def _spans(selection: Selection, figure: Figure, n_rows: int, n_cols: int) -> bool:
    """Whether `to` is a corner of a block of this figure, below and to the right of the cell."""
    (last_row, last_col), row, col = selection.to or (-1, -1), selection.row, selection.col
    if not figure.blocks or row is None or col is None:
        return False
    return row <= last_row < n_rows and col <= last_col < n_cols

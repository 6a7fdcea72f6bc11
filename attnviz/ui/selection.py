"""What the reader points at, between the explorer, the page and the URL.

The latest word counts: a click in the explorer, a row chosen in a table, or, on a first visit,
the link. What a link or a client sends is kept only if the figure can have it.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, replace

import streamlit as st

from attnviz.components.explorer.selection import read
from attnviz.figures.figure import Selection
from attnviz.ui import address, look

_PARTS = ("layer", "head", "row", "col")


@dataclass
class _Kept:
    value: Selection
    reported: Selection | None = None
    unit: str | None = None  # what a row and a column stood for
    whose: str = ""
    default: tuple[int, int] | None = None


def _from_url() -> Selection:
    numbers: dict[str, int] = {}
    for part in _PARTS:
        text = st.query_params.get(part, "")
        if text.isascii() and text.isdigit() and len(text) < 7:
            numbers[part] = int(text)
    found = re.fullmatch(r"([0-9]{1,6})_([0-9]{1,6})", st.query_params.get("to", ""))
    to = (int(found[1]), int(found[2])) if found else None
    return Selection(panel=st.query_params.get("panel"), to=to, look=look.from_url(), **numbers)


def _kept(key: str) -> _Kept:
    news = address.news(f"{key}:chosen", (*_PARTS, "to", *look.PARTS))
    kept = st.session_state.get(f"{key}:chosen")
    if kept is None or news:
        # What the explorer said before is older than the address.
        said = read(st.session_state.get(key))
        kept = st.session_state[f"{key}:chosen"] = _Kept(_from_url(), said)
    return kept


def current(
    key: str,
    *,
    layers: Collection[int],
    n_heads: int,
    default: tuple[int, int],
    panel: str | None = None,
    shape: tuple[int, int] | None = None,
    unit: str = "",
    whose: str = "",
) -> Selection:
    """The selection to draw for the explorer mounted under `key`.

    A layer or head that this figure does not have becomes the default (layer, head). panel names
    the panel that a link's row and column are about where the link does not say. shape is the
    map's: a cell outside of it is none. unit is what a row and a column stand for: a cell chosen
    in others is none. whose is the model's name: where another's default head was in sight, this
    one's is.
    """
    kept = _kept(key)
    reported = read(st.session_state.get(key))
    if reported is not None and reported != kept.reported:
        kept.reported = kept.value = reported
    value = kept.value
    if value.layer is None and len(layers) == 1:  # a link may leave the only layer out
        value = replace(value, layer=default[0])
    if kept.whose not in ("", whose) and kept.default == (value.layer, value.head):
        value = replace(value, layer=default[0], head=default[1])
    kept.whose, kept.default = whose, default
    if value.layer not in layers or value.head not in range(n_heads):
        value = replace(value, layer=default[0], head=default[1])
    if value.panel is None and value.row is not None:
        value = replace(value, panel=panel)
    cell = (value.row, value.col, *(value.to or ()))
    outside = shape is not None and any(
        place is not None and place >= length
        for place, length in zip(cell, shape * 2, strict=False)
    )
    if outside or kept.unit not in (None, unit):
        value = replace(value, row=None, col=None, to=None)
    kept.unit = unit
    kept.value = value
    return value


def choose(key: str, layer: int, head: int) -> None:
    """Point at a head from elsewhere on the page (call it in a widget's callback)."""
    kept = _kept(key)
    kept.value = replace(kept.value, layer=layer, head=head)


def point(key: str, row: int) -> None:
    """Point at a query of the map from elsewhere on the page (call it in a widget's callback)."""
    kept = _kept(key)
    kept.value = replace(kept.value, panel="weights", row=row, col=kept.value.col or 0, to=None)


def keep(selection: Selection, *, default: tuple[int, int] | None = None) -> None:
    """Put selection and look into the URL; the default (layer, head) leaves it bare."""
    bare = default == (selection.layer, selection.head)
    words: dict[str, str | None] = {}
    for part in _PARTS:
        value = None if bare and part in ("layer", "head") else getattr(selection, part)
        words[part] = None if value is None else str(value)
    if st.query_params.get("panel") != selection.panel:  # "weights" goes without saying
        words["panel"] = None if selection.panel == "weights" else selection.panel
    words["to"] = selection.to and "_".join(map(str, selection.to))
    address.write_all(words | look.words(selection.look))

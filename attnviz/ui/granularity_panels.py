"""By tokens or by words, with special tokens or without: the control, and what it leaves out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import streamlit as st

from attnviz.jobs import CaptureJob
from attnviz.map_jobs import UnitsJob
from attnviz.ui import controls, work
from attnviz.ui.folded import Folded

UNITS = {"token": "Tokens", "word": "Words"}


@dataclass(frozen=True)
class Units:
    """What a row and a column stand for, as chosen."""

    words: bool
    hide: bool
    anew: bool


def choice() -> Units:
    """The folded control; what it says stands in the address."""
    with Folded("Words, special tokens", key="units", icon=":material/match_word:"):
        unit = controls.segment(
            "A row and a column for each of the",
            list(UNITS),
            key="unit",
            show=UNITS.__getitem__,
            help="A word attends by the mean over its tokens' rows, and is attended to by the sum "
            "over their columns: rows still add up to 1. BERT's word pieces keep no "
            "spaces, so that don't is three words there: don, ' and t.",
        )
        hide = controls.toggle(
            "Leave out special tokens",
            key="bare",
            help="Their rows and columns are not shown; nothing else changes, so that rows then "
            "add up to less than 1.",
        )
        anew = controls.toggle(
            "Share rows out anew",
            key="anew",
            help="Where special tokens are left out: each row divided by what is left of it, so "
            "that it adds up to 1 again. The weights are then no longer the model's.",
        )
    return Units(unit == "word", hide, hide and anew)


def read_in(units: Units, job: CaptureJob, maps: Any, slot: Any = None) -> Any:
    """These maps of the job's capture as chosen, their overviews computed with progress.

    Value-weighted maps stay as they are, for norms of vectors do not add up to that of their
    sum; so do a picture's, whose patches stand in their places.
    """
    if not (units.words or units.hide) or _norms(maps) or _seen(maps):
        return maps
    asked = UnitsJob(
        job,
        group="" if maps.signed else maps.group,
        signed=maps.signed,
        words=units.words,
        hide=units.hide,
        renormalise=units.anew and not maps.signed,
    )
    capture = work.result_of(job)
    return asked.regrouped(capture).with_summary(work.result_of(asked, slot))


def told(units: Units, maps: Any) -> None:
    """What is not in sight, in numbers."""
    if not (units.words or units.hide):
        return
    if _norms(maps):
        st.text(
            "Value-weighted maps are shown token by token, special ones too: norms do not add up "
            "over a word."
        )
        return
    if _seen(maps):
        st.text("A picture's patches are shown one by one, and special tokens beside them.")
        return
    if not units.hide:
        return
    if not maps.hides:
        st.text("There are no special tokens among these keys.")
        return
    if maps.signed:
        st.text("Special tokens are left out of sight; no other cell changes.")
        return
    table = maps.metrics()
    most = table.loc[table["hidden"].idxmax()]
    rest = (
        "what is left of each row was divided by its sum, so these are no longer the weights that "
        "the model used"
        if maps.renormalised
        else "rows add up to less than 1 by that much, and the metrics are those of the whole map"
    )
    st.text(
        f"Special tokens are left out: they hold {table['hidden'].mean():.1%} of a row's weight, "
        f"the mean over all heads (most in layer {most['layer']:.0f}, head {most['head']:.0f}: "
        f"{most['hidden']:.1%}); {rest}."
    )


def _norms(maps: Any) -> bool:
    return getattr(maps, "scale", "weight") == "magnitude"


def _seen(maps: Any) -> bool:
    return getattr(maps, "image", None) is not None

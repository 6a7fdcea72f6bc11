"""How the explorer's figure is drawn, as words of the page's address."""

from __future__ import annotations

import math
import re
from typing import Any

import streamlit as st

from attnviz.components.explorer.look import look_of
from attnviz.figures.capture_words import HIDDEN, METRICS, STATE, in_words
from attnviz.figures.figure import Look

PARTS = (
    "show",
    "colours",
    "min",
    "palette",
    "metric",
    "order",
    "cut",
    "with",
    "bars",
    "table",
    "lines",
    "read",
    "hide",
    "at",
    "zoom",
    "zoomed",
)

_TITLES = METRICS | HIDDEN | STATE
_WORDS = {title: word for word, token in _TITLES.items() for title in (token, in_words(token))}


def from_url() -> Look:
    """The look that the address asks for; a word that it does not know counts for nothing."""
    said = {part: st.query_params.get(part, "") for part in PARTS}
    return look_of(
        {
            "show": said["show"],
            "scale": said["colours"],
            "least": _number(said["min"]),
            "palette": said["palette"],
            "metric": _title(said["metric"]),
            "order": said["order"],
            "cut": _number(said["cut"]),
            "others": said["with"].split(",", 50),
            "row": said["bars"] == "1",
            "table": said["table"] == "1",
            "lines": said["lines"],
            "reading": said["read"],
            "hide": said["hide"].split(",", 50),
            "at": int(said["at"]) if re.fullmatch(r"[0-9]{1,6}", said["at"]) else None,
            "zoom": [_number(word) for word in said["zoom"].split("_", 5)],
            "zoomed": said["zoomed"],
        }
    )


def _title(word: str) -> str:
    """The metric of that word, as the figure calls it; by words the address says so."""
    title = _TITLES.get(word, word)
    return in_words(title) if st.query_params.get("unit") == "word" else title


def words(look: Look) -> dict[str, str | None]:
    """What the address says of it: what differs from how a newcomer sees the figure.

    What is in sight of a map the browser puts there itself: moving it runs no page.
    """
    said = {
        "show": "" if look.show == "matrix" else look.show,
        "colours": look.scale or "",
        "min": f"{look.least:g}" if look.least else "",
        "palette": look.palette,
        "metric": _WORDS.get(look.metric, look.metric),
        "order": look.order,
        "cut": "" if look.cut is None else f"{look.cut:g}",
        "with": ",".join(look.others),
        "bars": "1" if look.row else "",
        "table": "1" if look.table else "",
        "lines": "" if look.lines == "columns" else look.lines,
        "read": "" if look.reading == "from" else look.reading,
        "hide": ",".join(look.hide),
        "at": "" if look.at is None else str(look.at),
    }
    return {part: word or None for part, word in said.items()}


def _number(word: str) -> Any:
    if not re.fullmatch(r"[0-9.eE-]{1,12}", word):
        return None
    try:
        number = float(word)
    except ValueError:
        return None
    return number if math.isfinite(number) else None

"""Changes as a visitor writes them: 17.3 is a head, 9>3 a query and its key, cross: a group."""

from __future__ import annotations

import re
from collections.abc import Iterator

from attnviz.errors import AttnvizError
from attnviz.interventions.edits import HideEdge, HideToken, Knockout, Patch, Scale

MOST = 64
"""Changes of one kind on a page."""

_GROUP = r"(?:(encoder|decoder|cross):)?"
_HEAD = rf"{_GROUP}([0-9]{{1,4}})\.([0-9]{{1,4}})"


def parse_heads(words: str, by: str = "zero") -> tuple[Knockout, ...]:
    """ "17.3, cross:0.2" as two knock-outs: layer.head, separated by commas or spaces."""
    found = [Knockout(layer, head, by, group) for layer, head, group in _heads(words)]
    return tuple(dict.fromkeys(found))


def parse_patches(words: str, text: str) -> tuple[Patch, ...]:
    """These heads as they are on another text."""
    found = [Patch(layer, head, text, group) for layer, head, group in _heads(words)]
    if found and not text:
        raise AttnvizError("Heads are patched from another text; type it, as many tokens long.")
    return tuple(dict.fromkeys(found))


def parse_scales(words: str) -> tuple[Scale, ...]:
    """ "17.3 x 2, 16.0 x -0.5": heads and what their output is multiplied by."""
    found = []
    for part in _parts(words, r"[,;]"):
        match = re.fullmatch(rf"{_HEAD}\s*[x×*]\s*(-?[0-9]{{1,6}}(?:\.[0-9]{{1,6}})?)", part)
        if match is None:
            raise AttnvizError(
                "A head is scaled as in 17.3 x 2, several separated by commas; "
                f"{part[:40]!r} is no such thing."
            )
        found.append(Scale(int(match[2]), int(match[3]), float(match[4]), match[1]))
    return tuple(dict.fromkeys(found))


def parse_tokens(words: str) -> tuple[HideToken, ...]:
    """ "2, 3": positions that no other token may read."""
    found = []
    for part in _parts(words, r"[,;\s]"):
        match = re.fullmatch(rf"{_GROUP}([0-9]{{1,6}})", part)
        if match is None:
            raise AttnvizError(f"Tokens are hidden by position, as in 2, 3; {part[:40]!r} is none.")
        found.append(HideToken(int(match[2]), group=match[1]))
    return tuple(dict.fromkeys(found))


def parse_edges(words: str) -> tuple[HideEdge, ...]:
    """ "9>3, 9>4 in 17.3": a query that may not read a key, everywhere or in one head."""
    found = []
    for part in _parts(words, r"[,;]"):
        match = re.fullmatch(
            rf"{_GROUP}([0-9]{{1,6}})\s*>\s*([0-9]{{1,6}})(?:\s+in\s+([0-9]{{1,4}})(?:\.([0-9]{{1,4}}))?)?",
            part,
        )
        if match is None:
            raise AttnvizError(
                "A pair is hidden as query>key, as in 9>3 or 9>3 in 17.3, several separated by "
                f"commas; {part[:40]!r} is none."
            )
        layer, head = (None if number is None else int(number) for number in match.groups()[3:])
        found.append(HideEdge(int(match[2]), int(match[3]), layer, head, match[1]))
    return tuple(dict.fromkeys(found))


def _heads(words: str) -> Iterator[tuple[int, int, str | None]]:
    for part in _parts(words, r"[,;\s]"):
        match = re.fullmatch(_HEAD, part)
        if match is None:
            raise AttnvizError(
                f"Heads are written layer.head, as in 17.3, separated by commas; {part[:40]!r} is "
                "not one."
            )
        yield int(match[2]), int(match[3]), match[1]


def _parts(words: str, separator: str) -> list[str]:
    parts = [part.strip() for part in re.split(separator, words) if part.strip()]
    if len(parts) > MOST:
        raise AttnvizError(f"At most {MOST} changes of a kind at once, not {len(parts):,}.")
    return parts

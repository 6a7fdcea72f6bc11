"""Tokens as a reader can see them: every space and byte visible, nothing empty, nothing hidden.

The strings are plain text: escaping and bidirectional isolation are the front end's job.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Any

from attnviz.models.pieces import Piece, pieces

VISIBLE = {" ": "·", "\n": "⏎", "\t": "⇥", "\r": "␍"}
HIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"}
SUPER = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
SUB = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def screen_tokens(
    tokenizer: Any,
    ids: Sequence[int],
    text: str | None = None,
    offsets: Sequence[Sequence[int]] | None = None,
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(labels, details) of these token ids, one of each a position.

    text and offsets (start, end of each token in it) let the details quote what was typed, and
    name the tokens of a tokenizer whose own strings cannot be read. A space is ·, a newline ⏎,
    a tab ⇥; a token that is part of a character shows it with its share, as 🤗¹⁄₄.
    """
    found = pieces(tokenizer, ids, text, offsets)
    labels = tuple(_label(piece) for piece in found)
    details = tuple(
        _detail(position, token, piece)
        for position, (token, piece) in enumerate(zip(ids, found, strict=True))
    )
    return labels, details


def visible(text: str) -> str:
    """This text with its whitespace and invisible characters made visible."""
    out = ""
    for position, char in enumerate(text):
        kind = unicodedata.category(char)
        if char in VISIBLE:
            out += VISIBLE[char]
        elif kind in HIDDEN or char == "\ufffd":
            out += f"⟨U+{ord(char):04X}⟩"
        elif kind.startswith("M") and position == 0:
            out += "◌" + char  # a mark that would sit on the neighbouring label
        else:
            out += char
    return out


def _label(piece: Piece) -> str:
    if piece.special:
        return visible(piece.text) or "∅"
    shown = piece.prefix
    for part in piece.parts:
        shown += visible(part.text) if part.text else f"⟨{part.raw.hex(' ').upper()}⟩"
        if part.of > 1:
            shown += f"{part.number}".translate(SUPER) + "⁄" + f"{part.of}".translate(SUB)
    # A mark may follow a part that is not a letter, so only the label's own start counts.
    return shown or "∅"


def _detail(position: int, token: int, piece: Piece) -> str:
    lines = [f"position {position}", f"id {token}"]
    if piece.special:
        lines.append(f"special token {visible(piece.text)}")
    for part in piece.parts:
        if part.of > 1 and part.text:
            lines.append(f"part {part.number} of {part.of} of {visible(part.text)}")
    if piece.raw:
        lines.append(
            "bytes " + piece.raw[:16].hex(" ").upper() + (" …" if len(piece.raw) > 16 else "")
        )
    if piece.typed is not None:
        lines.append(f"typed as {visible(piece.typed)}")
    return ", ".join(lines)

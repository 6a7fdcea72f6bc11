"""Which tokens form a word: read from the characters that the tokens stand for.

A tokenizer's own word ids will not do: some call a whole text one word (Llama's), some part a
word at its capitals or digits, and offsets are no names (the four tokens of one emoji share one).
So the tokens' bytes are laid end to end and words are told from the characters: letters, digits
and marks that follow each other are a word, with the space before it; every other sign is one of
its own. Chinese and Japanese characters, whose scripts put no space between words, stand alone.
A token is never cut: what one token holds together is one word. Word pieces (BERT's) keep no
spaces, so that there don't is three words, as its tokenizer reads it: don, ' and t.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from attnviz.models.axis import Axis
from attnviz.models.pieces import Piece, added_tokens, pieces, spelling_of
from attnviz.models.tokens import visible

JOINERS = {"\u200d", "\u200c"}  # zero width: they hold an emoji or a ligature together
INSIDE = {"'": "L", "’": "L", ".": "N", ",": "N"}
"""Signs that do not part a word between two letters (don't) or two digits (3.14), where the tokens
tell whether a space was there."""
ALONE = ("CJK", "HIRAGANA", "KATAKANA")


NO_TOKEN = Piece(b"", (), special=True)
"""A frame of a sound, a summary of a block: what is no token is no part of a word."""


@dataclass(frozen=True)
class Words:
    """Runs of tokens, in order and without a gap: word n is tokens starts[n] to starts[n + 1]."""

    starts: tuple[int, ...]
    axis: Axis  # the words as the side of a map; ids are those of each word's first token


def words_of(tokenizer: Any, axis: Axis) -> Words:
    """The words of a text's tokens; special tokens are words of their own.

    Without a tokenizer (positions, patches of a picture) every position is its own word.
    """
    if tokenizer is None or axis.grid is not None:
        return Words(tuple(range(len(axis))), axis)
    known = iter(pieces(tokenizer, [token for token in axis.ids if token >= 0]))
    found = [next(known) if token >= 0 else NO_TOKEN for token in axis.ids]
    starts = _starts(tokenizer, axis, found)
    labels, details = [], []
    for number, (first, last) in enumerate(_spans(starts, len(axis))):
        labels.append(_label(axis, found, first, last))
        which = f"token {first}" if last == first + 1 else f"tokens {first} to {last - 1}"
        details.append(f"word {number}, {which}: {' '.join(axis.labels[first:last])}")
    grouped = axis.only(list(starts))
    return Words(
        starts,
        Axis(tuple(labels), tuple(details), grouped.ids, grouped.special, grouped.roles),
    )


def _starts(tokenizer: Any, axis: Axis, found: Sequence[Piece]) -> tuple[int, ...]:
    """The tokens with which a word begins."""
    spelling, added = spelling_of(tokenizer), added_tokens(tokenizer)
    own = [
        piece.special or special or token in added
        for piece, special, token in zip(found, axis.special, axis.ids, strict=True)
    ]
    texts = ["".join(part.text or "\ufffd" for part in piece.parts) for piece in found]
    starts = [0]
    for place in range(1, len(axis)):
        piece, here = found[place], slice(place - 1, place + 1)
        if any(own[here]) or len(set(axis.roles[here])) > 1:
            begins = True
        elif piece.parts and piece.parts[0].number > 1:
            begins = False  # of a character that began in the token before
        elif spelling == "wordpiece":
            begins = not piece.prefix
        elif spelling == "offsets" and _apart(tokenizer, *axis.ids[here]):
            begins = True
        else:
            before = "".join(texts[max(starts[-1], place - 8) : place])
            begins = begins_word(before, "".join(texts[place : place + 2]))
        if begins:
            starts.append(place)
    return tuple(starts)


def begins_word(before: str, text: str) -> bool:
    """Whether a new word begins at text, which follows before."""
    last, first = before[-1:], text[:1]
    if not first or not last:
        return bool(first)
    if _kind(first) == "M" or first in JOINERS or last in JOINERS:
        return False
    if _kind(last) == "Z":  # a space belongs to what follows it, a line's end to nothing
        return _kind(first) == "B"
    stem = next((c for c in reversed(before) if _kind(c) != "M"), last)
    kinds = _kind(stem), _kind(first)
    if kinds in (("L", "L"), ("N", "N"), ("L", "N"), ("N", "L")):
        return False
    inside = INSIDE.get(first) == kinds[0] and _kind(text[1:2]) == kinds[0]
    after = INSIDE.get(last) == kinds[1] and _kind(before[-2:-1]) == kinds[1]
    return not (inside or after)


def _kind(char: str) -> str:
    """L letter, N digit, M mark, Z space, B line's end, S sign or a character that stands alone."""
    if not char:
        return ""
    kind = unicodedata.category(char)[0]
    if char in "\n\r\x0b\x0c\x85\u2028\u2029":
        return "B"
    if char == "\t" or kind == "Z":
        return "Z"
    if kind == "L" and unicodedata.name(char, "").startswith(ALONE):
        return "S"
    if 0x1F3FB <= ord(char) <= 0x1F3FF:  # skin tones
        return "M"
    return "L" if char == "_" else kind if kind in "LNM" else "S"


def _apart(tokenizer: Any, one: int, other: int) -> bool:
    """Whether the tokenizer itself writes something between these two tokens."""
    alone = tokenizer.decode([one]) + tokenizer.decode([other])
    return tokenizer.decode([one, other]) != alone


def _spans(starts: Sequence[int], length: int) -> list[tuple[int, int]]:
    return list(zip(starts, [*starts[1:], length], strict=True))


def _label(axis: Axis, found: Sequence[Piece], first: int, last: int) -> str:
    """A word as shown; of one token its own label, which may be a share of a character."""
    if last == first + 1:
        return axis.labels[first]
    raw = b"".join(piece.raw for piece in found[first:last])
    return visible(raw.decode(errors="replace"))

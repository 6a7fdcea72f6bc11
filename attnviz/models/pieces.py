"""What each token is made of: its bytes, and the characters that these bytes are part of.

Tokenizers spell their vocabulary in four ways: bytes in GPT-2's printable alphabet, pieces with
▁ for a space and <0xF0> for a byte (SentencePiece), word pieces that continue with ##, and
others, of which only the offsets into the text can be trusted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any


@dataclass(frozen=True)
class Part:
    """A run of whole characters, or this token's share of one character.

    A share has of > 1 where the character's bytes lie in several tokens. text is empty where
    the bytes belong to no character.
    """

    text: str
    raw: bytes
    number: int = 1
    of: int = 1


@dataclass(frozen=True)
class Piece:
    """One token."""

    raw: bytes
    parts: tuple[Part, ...]
    prefix: str = ""  # the tokenizer's own sign of a continued word
    special: bool = False
    text: str = ""  # of a special token: its name
    typed: str | None = None  # what it stands for in the text, where that reads differently


def pieces(
    tokenizer: Any,
    ids: Sequence[int],
    text: str | None = None,
    offsets: Sequence[Sequence[int]] | None = None,
) -> tuple[Piece, ...]:
    """The pieces of these ids, in order; special and added tokens are taken by their name."""
    spelling = spelling_of(tokenizer)
    added = {token: str(entry) for token, entry in added_tokens(tokenizer).items()}
    special = special_ids(tokenizer)
    strings = tokenizer.convert_ids_to_tokens(list(ids))
    raws: list[bytes] = []
    for position, (token, string) in enumerate(zip(ids, strings, strict=True)):
        if token in added or token in special:
            raws.append((added.get(token) or string or "").encode())
        elif spelling == "offsets":
            raws.append(_quoted(text, offsets, position, string).encode())
        else:
            raws.append(_bytes(spelling, string or ""))
    whole = {i for i, token in enumerate(ids) if token in added or token in special}
    shares = _shares(raws, whole)
    found = []
    for position, (token, string, raw) in enumerate(zip(ids, strings, raws, strict=True)):
        typed = None
        whole_characters = all(part.of == 1 for part in shares[position])
        if text is not None and offsets is not None and whole_characters:
            start, end = offsets[position]
            quote = text[start:end]
            if quote and quote.strip() != raw.decode("utf-8", "ignore").strip():
                typed = quote
        found.append(
            Piece(
                raw=b"" if token in special else raw,
                parts=() if token in special else shares[position],
                prefix="##" if spelling == "wordpiece" and (string or "").startswith("##") else "",
                special=token in special,
                text=raw.decode() if token in special else "",
                typed=typed,
            )
        )
    return tuple(found)


def special_ids(tokenizer: Any) -> frozenset[int]:
    """Ids that stand for no text of their own: sequence ends, separators, the unknown token."""
    marked = {
        token
        for token, entry in added_tokens(tokenizer).items()
        if getattr(entry, "special", False)
    }
    return frozenset(marked | set(tokenizer.all_special_ids))


def added_tokens(tokenizer: Any) -> dict[int, Any]:
    return dict(getattr(tokenizer, "added_tokens_decoder", {}) or {})


def spelling_of(tokenizer: Any) -> str:
    """bytes, sentencepiece, wordpiece or offsets: how this tokenizer writes its tokens."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    decoder = repr(getattr(backend, "decoder", None))
    if "ByteLevel" in decoder:
        return "bytes"
    if "WordPiece" in decoder:
        return "wordpiece"
    if "ByteFallback" in decoder or "Metaspace" in decoder:
        return "sentencepiece"
    return "offsets"


def _bytes(spelling: str, string: str) -> bytes:
    if spelling == "bytes":
        alphabet = _byte_alphabet()
        if all(char in alphabet for char in string):
            return bytes(alphabet[char] for char in string)
        return string.encode()
    if spelling == "sentencepiece":
        byte = re.fullmatch(r"<0x([0-9A-Fa-f]{2})>", string)
        return bytes([int(byte[1], 16)]) if byte else string.replace("▁", " ").encode()
    return string.removeprefix("##").encode()


def _quoted(
    text: str | None,
    offsets: Sequence[Sequence[int]] | None,
    position: int,
    string: str | None,
) -> str:
    """The token's text by its offsets, with the space that came before it."""
    if text is None or offsets is None:
        return string or ""
    start, end = offsets[position]
    before = offsets[position - 1][1] if position else 0
    gap = " " if start > before and text[before:start].isspace() else ""
    return gap + text[start:end] if end > start else string or ""


def _shares(raws: Sequence[bytes], whole: set[int]) -> list[tuple[Part, ...]]:
    """Each token's parts, characters being put together across neighbouring tokens."""
    stream = [
        (token, raw[i])
        for token, raw in enumerate(raws)
        if token not in whole
        for i in range(len(raw))
    ]
    parts: list[list[Part]] = [[] for _ in raws]
    for token in whole:
        parts[token].append(Part(raws[token].decode(), raws[token]))
    start = 0
    while start < len(stream):
        length = _character(stream, start)
        run = stream[start : start + max(1, length)]
        raw = bytes(byte for _, byte in run)
        owners = sorted({token for token, _ in run})
        for number, owner in enumerate(owners, start=1):
            own = bytes(byte for token, byte in run if token == owner)
            text = raw.decode() if length else ""
            _append(parts[owner], Part(text, own, number, len(owners)))
        start += len(run)
    return [tuple(own) for own in parts]


def _character(stream: Sequence[tuple[int, int]], start: int) -> int:
    """The number of bytes of the character that starts here; 0 if none does."""
    lead = stream[start][1]
    length = 1 if lead < 0x80 else 2 if 0xC2 <= lead < 0xE0 else 3 if 0xE0 <= lead < 0xF0 else 4
    tokens = [token for token, _ in stream[start : start + length]]
    raw = bytes(byte for _, byte in stream[start : start + length])
    if any(b - a > 1 for a, b in pairwise(tokens)):
        return 0  # another token stands between
    try:
        return length if len(raw.decode()) == 1 else 0
    except UnicodeDecodeError:
        return 0


def _append(parts: list[Part], part: Part) -> None:
    """Join whole characters into one run, and loose bytes into another."""
    if parts and part.of == parts[-1].of == 1 and bool(part.text) == bool(parts[-1].text):
        last = parts.pop()
        part = Part(last.text + part.text, last.raw + part.raw)
    parts.append(part)


@lru_cache(maxsize=1)
def _byte_alphabet() -> dict[str, int]:
    """GPT-2's printable stand-ins for the 256 bytes (Radford et al. 2019, encoder.py)."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    table = {chr(byte): byte for byte in printable}
    hidden = [byte for byte in range(256) if byte not in printable]
    return table | {chr(256 + n): byte for n, byte in enumerate(hidden)}

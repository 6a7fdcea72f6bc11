"""A visitor's file of texts, read with care: .txt, a text a line, or .jsonl, {"text": ...} a line.

What the texts hold is never run nor shown as markup: they are strings for a tokenizer.
"""

from __future__ import annotations

import json
import re

from attnviz.errors import AttnvizError

Lines = tuple[tuple[int, str], ...]
"""(number of the line, from 1, its text) of each line that holds one."""

MOST_BYTES = 2 * 2**20
MOST_TEXTS = 500
MOST_CHARACTERS = 4_000
"""Of a file, in a file, and of each text: a run over all of them takes minutes, not hours."""


def read_texts(name: str, data: bytes) -> tuple[str, ...]:
    """The texts of a file: those of read_lines, without their numbers."""
    return tuple(text for _, text in read_lines(name, data))


def read_lines(name: str, data: bytes) -> Lines:
    """The texts of a file, empty lines left out; its name says which of the two kinds it is.

    Raises AttnvizError, naming the line, for a file of another kind, not in UTF-8, too large, or
    with a line that holds no text.
    """
    if len(data) > MOST_BYTES:
        raise AttnvizError(
            f"The file has {len(data):,} bytes and at most {MOST_BYTES:,} are taken; cut it."
        )
    kind = name.lower().rpartition(".")[2]
    if kind not in ("txt", "jsonl"):
        raise AttnvizError("A file of texts ends in .txt or .jsonl; save it as one of these.")
    try:
        whole = data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        line = data[: problem.start].count(b"\n") + 1
        raise AttnvizError(f"Line {line} is not UTF-8 text; save the file as UTF-8.") from None
    return lines_of(whole, jsonl=kind == "jsonl")


def lines_of(whole: str, *, jsonl: bool = False) -> Lines:
    """The texts of these lines, one each; AttnvizError names the line that holds none."""
    found = []
    for number, line in enumerate(re.split(r"\r\n|\n|\r", whole), start=1):
        if not line.strip():
            continue
        text = _of_json(line, number) if jsonl else line
        if len(text) > MOST_CHARACTERS:
            raise AttnvizError(
                f"Line {number} has {len(text):,} characters and at most {MOST_CHARACTERS:,} are "
                "taken a text; cut it."
            )
        found.append((number, text))
        if len(found) > MOST_TEXTS:
            raise AttnvizError(f"There are more than {MOST_TEXTS} texts; leave some out.")
    if not found:
        raise AttnvizError("There is no text here; put one on each line.")
    return tuple(found)


def _of_json(line: str, number: int) -> str:
    asked = 'expected {"text": "..."} with words in it'
    try:
        entry = json.loads(line)
    # A line of nothing but brackets nests deeper than the reader goes.
    except (ValueError, RecursionError):
        raise AttnvizError(f"Line {number} is not JSON; {asked}.") from None
    text = entry.get("text") if isinstance(entry, dict) else None
    if not isinstance(text, str) or not text.strip():
        raise AttnvizError(f"Line {number} holds no text; {asked}.")
    return text

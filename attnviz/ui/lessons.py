"""Lessons: one markdown file a concept, a variant's with the same parts in the same order.

A variant's begins with its question as a heading and one sentence; then come the parts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "assets" / "lessons"
PARTS = ("Idea", "Try", "Limits", "Sources")
"""The parts that a variant's lesson must have; others may stand between them."""


@dataclass(frozen=True)
class Lesson:
    """A file taken apart. question and sentence are empty where it does not begin with them."""

    question: str
    sentence: str
    parts: dict[str, str]  # by heading, in order; "" for what comes before the first


def there_is(word: str) -> bool:
    """Whether somebody has written it."""
    return (FOLDER / f"{word}.md").is_file()


@cache
def read(word: str) -> Lesson:
    """The lesson of a concept, from assets/lessons/<word>.md."""
    text = (FOLDER / f"{word}.md").read_text(encoding="utf-8")
    question, sentence = "", ""
    opening = re.match(r"# (.+)\n\n(.+)\n", text)
    if opening:
        question, sentence = opening.groups()
        text = text[opening.end() :]
    pieces = re.split(r"^## (.+)$", text, flags=re.MULTILINE)
    parts = dict(zip(["", *pieces[1::2]], map(str.strip, pieces[::2]), strict=True))
    return Lesson(question, sentence, {name: words for name, words in parts.items() if words})


def markdown(word: str) -> str:
    """The parts one below the other, their names in bold: the page's own title is its heading."""
    shown = []
    for name, words in read(word).parts.items():
        # A formula in display begins a paragraph of its own, and so does a list.
        gap = "\n\n" if words.startswith(("$$", "- ")) else " "
        shown.append(f"**{name}.**{gap}{words}" if name else words)
    return "\n\n".join(shown)

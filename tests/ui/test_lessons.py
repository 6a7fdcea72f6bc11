"""Every variant has a lesson with the same parts, written to be true and short."""

from __future__ import annotations

import re

import pytest

from attnviz import variants
from attnviz.ui import lessons

NOT_YET: set[str] = set()
"""Registered variants whose lesson is still to be written; take the word out when it is there."""


@pytest.mark.parametrize("name", [name for name in variants.names() if name not in NOT_YET])
def test_every_variant_has_its_lesson_with_all_parts(name: str) -> None:
    lesson = lessons.read(name)
    assert lesson.question.endswith("?")
    assert len(lesson.question) < 70
    assert lesson.sentence.endswith(".")
    named = [part for part in lesson.parts if part in lessons.PARTS]
    assert named == list(lessons.PARTS)
    assert "" not in lesson.parts, "a sentence too many before the first part"
    assert len(re.findall(r"[.?](?=\s|$)", lesson.parts["Idea"])) == 3
    assert len(lesson.parts["Try"]) < 400
    sources = lesson.parts["Sources"]
    linked = re.findall(r"arxiv\.org/abs/(\d{4}\.\d{4,5})", sources)
    assert linked
    own = re.search(r"arXiv:(\d{4}\.\d{4,5})", variants.find(name).source)
    assert own is None or own[1] in linked, "the registry's own source is among them"


def test_a_variant_still_without_a_lesson_is_listed_until_it_has_one() -> None:
    assert {name for name in variants.names() if not lessons.there_is(name)} == NOT_YET


def test_questions_differ() -> None:
    asked = [lessons.read(name).question for name in variants.names() if name not in NOT_YET]
    assert len(set(asked)) == len(asked)


def test_a_lesson_of_a_page_needs_no_parts() -> None:
    lesson = lessons.read("masks")
    assert (lesson.question, lesson.sentence) == ("", "")
    assert lessons.markdown("masks") == lesson.parts[""]


def test_the_pages_title_is_its_only_heading() -> None:
    for name in set(variants.names()) - NOT_YET:
        shown = lessons.markdown(name)
        assert not re.search(r"^#", shown, re.MULTILINE)
        assert not re.search(r"\S[ \t]*\$\$\n", shown), "a display formula begins its own line"

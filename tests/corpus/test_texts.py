"""Files of texts: what is taken, and each bad line in a sentence."""

from __future__ import annotations

import json

import pytest

from attnviz.corpus import texts
from attnviz.corpus.texts import read_lines, read_texts
from attnviz.errors import AttnvizError


def test_lines_and_json_lines_are_texts() -> None:
    assert read_texts("a.txt", "\ufeffone\r\n\n  \ntwo 🤗\n".encode()) == ("one", "two 🤗")
    hostile = "<script>1</script>\n$x$"
    lines = json.dumps({"text": hostile, "other": 1}) + "\n\n" + json.dumps({"text": "b"})
    assert read_texts("A.JSONL", lines.encode()) == (hostile, "b")
    assert read_lines("old.txt", b"one\rtwo\r\rthree") == ((1, "one"), (2, "two"), (4, "three"))
    assert read_lines("A.JSONL", lines.encode()) == ((1, hostile), (3, "b"))


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("a.csv", b"x", "ends in .txt or .jsonl"),
        ("a.txt", b"", "no text here"),
        ("a.txt", b" \n\n", "no text here"),
        ("a.txt", b"one\ntwo\xff", "Line 2 is not UTF-8"),
        ("a.jsonl", b'{"text": "a"}\n{"text": ', "Line 2 is not JSON"),
        ("a.jsonl", b'{"text": "a"}\n["b"]', "Line 2 holds no text"),
        ("a.jsonl", b'{"text": 3}', "Line 1 holds no text"),
        ("a.jsonl", b'{"text": " "}', "Line 1 holds no text"),
        ("a.jsonl", b"[" * 100_000, "Line 1 is not JSON"),
        ("a.txt", b"a" * 4_001, "Line 1 has 4,001 characters"),
        ("a.txt", b"a\n" * 501, "more than 500 texts"),
        ("a.txt", b"a" * (texts.MOST_BYTES + 1), "bytes and at most"),
    ],
)
def test_a_bad_file_is_a_sentence(name: str, data: bytes, words: str) -> None:
    with pytest.raises(AttnvizError, match=words):
        read_texts(name, data)

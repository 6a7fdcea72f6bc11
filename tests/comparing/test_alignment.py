"""Alignment: known cases, and the longest common subsequence against its textbook table."""

from __future__ import annotations

import random
import time

import numpy as np
import pytest

from attnviz.comparing import align


@pytest.mark.parametrize(
    ("a", "b", "pairs"),
    [
        ("the cat sat", "the cat sat", [(0, 0), (1, 1), (2, 2)]),
        ("the cat sat", "the old cat sat", [(0, 0), (1, 2), (2, 3)]),  # insertion
        ("the old cat sat", "the cat sat", [(0, 0), (2, 1), (3, 2)]),  # deletion
        ("a cat sat", "a dog sat", [(0, 0), (1, 1), (2, 2)]),  # replacement, as long
        ("a cat sat", "a big dog sat", [(0, 0), (2, 3)]),  # replacement, longer: no partner
        ("a b c d", "x y c d", [(0, 0), (1, 1), (2, 2), (3, 3)]),
        ("the the cat", "the cat", [(0, 0), (2, 1)]),  # repeated tokens stay apart
        ("x y x y x y", "x y x y", [(0, 0), (1, 1), (2, 2), (3, 3)]),
        ("a", "b", [(0, 0)]),
        ("a b", "c", []),
        ("", "a", []),
        ("", "", []),
    ],
)
def test_known_pairs(a: str, b: str, pairs: list[tuple[int, int]]) -> None:
    found = align(a.split(), b.split())
    assert list(found.pairs) == pairs
    words_a, words_b = a.split(), b.split()
    same = [words_a[i] == words_b[j] for i, j in pairs]
    assert found.same[found.paired].tolist() == same


def _longest(a: list[str], b: list[str]) -> int:
    table = np.zeros((len(a) + 1, len(b) + 1), dtype=int)
    for i, one in enumerate(a):
        for j, other in enumerate(b):
            best = max(table[i, j + 1], table[i + 1, j])
            table[i + 1, j + 1] = table[i, j] + 1 if one == other else best
    return int(table[-1, -1])


def test_as_many_equal_tokens_as_can_be_are_paired_in_order() -> None:
    draw = random.Random(0)
    for _ in range(400):
        a, b = ([draw.choice("abc") for _ in range(draw.randrange(10))] for _ in range(2))
        found = align(a, b)
        assert found.same.sum() == _longest(a, b), (a, b)
        assert found.a[found.a >= 0].tolist() == list(range(len(a)))  # each token, in order, once
        assert found.b[found.b >= 0].tolist() == list(range(len(b)))
        assert all(
            (a[i] == b[j]) == flag
            for (i, j), flag in zip(found.pairs, found.same[found.paired], strict=True)
        )


def test_thousands_of_repeated_tokens_take_no_second() -> None:
    start = time.perf_counter()
    found = align(["x", "y"] * 1024, ["x", "y", "z"] * 683)
    assert found.same.sum() == 1366  # all of x y of B
    assert time.perf_counter() - start < 1


def test_sentences() -> None:
    assert align("ab", "ab").sentence == "All 2 tokens are the same."
    told = align(["the", "cat"], ["the", "old", "cat"]).sentence
    assert told == "2 pairs of tokens, of 2 in A and 3 in B; 2 of them are the same on both sides."


@pytest.mark.parametrize(
    ("a", "b", "said"),
    [
        ("x", "x", "The one token is the same."),
        ("x", "y", "1 pair of tokens, of 1 in A and 1 in B; it is not the same token."),
        ("xa", "xbc", "1 pair of tokens, of 2 in A and 3 in B; it is the same token."),
        ("xy", "abc", "0 pairs of tokens, of 2 in A and 3 in B."),
        (
            "xy",
            "xz",
            "2 pairs of tokens, of 2 in A and 2 in B; 1 of them is the same on both sides.",
        ),
    ],
)
def test_one_and_none_are_said_as_such(a: str, b: str, said: str) -> None:
    assert align(a, b).sentence == said

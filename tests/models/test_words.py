"""Words: which tokens form one, in every way that a tokenizer spells its pieces."""

from __future__ import annotations

import pytest

from attnviz.models import LoadedModel
from attnviz.models.axis import own_tokens, places
from attnviz.models.loading import load_tokenizer
from attnviz.models.texts import tokenise
from attnviz.models.words import begins_word, words_of
from tests.models import tiny

pytestmark = pytest.mark.models


def labels(model: LoadedModel, text: str) -> tuple[str, ...]:
    return words_of(model.tokenizer, tokenise(model, text).axis).axis.labels


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("hugs 🤗 🤗", ["hugs", "·🤗", "·🤗"]),  # four and three tokens, each a share of one sign
        ("in 東京 today", ["in", "·東", "京", "·today"]),
        ("say שלום twice שלום", ["say", "·שלום", "·twice", "·שלום"]),
        ("cafe\u0301 au lait", ["cafe\u0301", "·au", "·lait"]),
        ("Stop, he said.", ["Stop", ",", "·he", "·said", "."]),
        ("unbelievably tokenization", ["unbelievably", "·tokenization"]),
        ("I don't pay 3.14 or 3,000", ["I", "·don't", "·pay", "·3.14", "·or", "·3,000"]),
        ("one\n\n two", ["one", "⏎⏎", "·two"]),
        ("👩‍👧 x", ["👩⟨U+200D⟩👧", "·x"]),
    ],
)
def test_words_of_byte_level_tokens(smollm2: LoadedModel, text: str, words: list[str]) -> None:
    assert list(labels(smollm2, text)) == words


def test_word_pieces_that_continue_belong_to_the_word_before(minilm: LoadedModel) -> None:
    found = labels(minilm, "Unbelievably tokenized, 東京 שלום!")
    assert found == (
        *("[CLS]", "unbelievably", "tokenized", ",", "東", "京", "שלום", "!", "[SEP]"),
    )


def test_word_pieces_do_not_tell_where_no_space_was(minilm: LoadedModel) -> None:
    """As words_of says: these tokens are the same with spaces between, and parted either way."""
    apart = ("[CLS]", "don", "'", "t", "3", ".", "14", "[SEP]")
    assert labels(minilm, "don't 3.14") == labels(minilm, "don ' t 3 . 14") == apart


def test_a_word_names_its_tokens_and_special_ones_stay_alone(minilm: LoadedModel) -> None:
    axis = tokenise(minilm, "unbelievably so").axis
    found = words_of(minilm.tokenizer, axis)
    assert found.starts[:2] == (0, 1)
    assert found.axis.special == (True, False, False, True)
    last = found.starts[2] - 1
    assert found.axis.details[1].startswith(f"word 1, tokens 1 to {last}: un ##")
    assert found.axis.ids == tuple(axis.ids[start] for start in found.starts)


def test_a_tokenizer_whose_tokens_carry_no_sign_is_asked_where_it_writes_a_space() -> None:
    model = tiny.llama()
    assert labels(model, "the cat sat") == ("the", "·cat", "·sat")


@pytest.mark.models
def test_what_is_no_token_is_never_read_as_one() -> None:
    """GPT's ids 15 to 24 are digits, which as tokens would make one word."""
    tokenizer = load_tokenizer("smollm2-135m")
    frames = places(60)
    assert words_of(tokenizer, frames).axis.labels == frames.labels
    axis = own_tokens(2, "global", "global token") + frames.only([20, 21])
    assert words_of(tokenizer, axis).axis.labels == axis.labels


def test_positions_and_patches_are_their_own_words() -> None:
    axis = places(3)
    found = words_of(None, axis)
    assert found.starts == (0, 1, 2)
    assert found.axis == axis


@pytest.mark.parametrize(
    ("before", "text", "begins"),
    [
        ("ab", "c", False),
        ("ab", " c", True),
        (" ", "c", False),
        (" ", "\n", True),
        ("don", "'t", False),
        ("don'", "t", False),
        ("dogs", "' ", True),
        ("3", ".1", False),
        ("3.", "1", False),
        ("end", ".1", True),
        ("東", "京", True),
        ("カ", "ナ", True),
        ("สวัส", "ดี", False),
        ("한", "국", False),
        ("e", "\u0301", False),
        ("e\u0301", "a", False),
        ("(", "a", True),
        (".", ".", True),
        ("", "a", True),
        ("a", "", False),
    ],
)
def test_where_a_word_begins(before: str, text: str, begins: bool) -> None:
    assert begins_word(before, text) is begins

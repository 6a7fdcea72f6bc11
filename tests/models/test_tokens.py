"""Tokens on screen: nothing empty, nothing hidden, no replacement characters."""

from __future__ import annotations

import unicodedata
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer
from tokenizers.decoders import ByteFallback, Fuse, Metaspace, Sequence
from tokenizers.models import BPE, Unigram
from transformers import PreTrainedTokenizerFast

from attnviz.models.loading import load_tokenizer
from attnviz.models.pieces import spelling_of
from attnviz.models.tokens import screen_tokens, visible
from tests.models.tiny import tokenizer as word_tokenizer

pytestmark = pytest.mark.models


def shown(tokenizer: Any, text: str) -> tuple[tuple[str, ...], tuple[str, ...], list[int]]:
    encoded = tokenizer(text, return_offsets_mapping=True)
    ids = encoded["input_ids"]
    labels, details = screen_tokens(tokenizer, ids, text, encoded["offset_mapping"])
    assert len(labels) == len(details) == len(ids)
    return labels, details, ids


def smol(text: str) -> tuple[str, ...]:
    return shown(load_tokenizer("smollm2-135m"), text)[0]


def mini(text: str) -> tuple[str, ...]:
    return shown(load_tokenizer("minilm-l6"), text)[0]


def test_spaces_newlines_and_tabs_are_visible() -> None:
    assert smol("the cat the cat") == ("the", "·cat", "·the", "·cat")
    labels = smol("a\n\tb  c")
    assert "".join(labels) == "a⏎⇥b··c"


def test_typed_markup_is_shown_as_typed() -> None:
    for text in ("<s><b>x</b></s> $5 and $6", "x<script>alert(1)</script>", '" onmouseover="'):
        assert "".join(smol(text)) == text.replace(" ", "·")


def test_a_token_of_the_vocabulary_s_own_markup_is_visible() -> None:
    labels, details, _ = shown(load_tokenizer("smollm2-135m"), "a<|im_start|>b")
    assert labels == ("a", "<|im_start|>", "b")
    assert "special token" in details[1]


def test_parts_of_a_character_show_it_with_their_share() -> None:
    labels, details, ids = shown(load_tokenizer("smollm2-135m"), "🤗")
    count = len(ids)
    assert count > 1
    assert labels == tuple(
        f"🤗{str(n).translate(str.maketrans('1234', '¹²³⁴'))}⁄"
        f"{str(count).translate(str.maketrans('1234', '₁₂₃₄'))}"
        for n in range(1, count + 1)
    )
    assert f"part 1 of {count} of 🤗" in details[0]
    assert "bytes F0" in details[0]


def test_pieces_of_words_keep_their_sign() -> None:
    assert mini("playing unaffable") == ("[CLS]", "playing", "una", "##ffa", "##ble", "[SEP]")


def test_an_unknown_token_tells_what_was_typed() -> None:
    labels, details, _ = shown(load_tokenizer("minilm-l6"), "a 🤗 b")
    assert labels == ("[CLS]", "a", "[UNK]", "b", "[SEP]")
    assert "typed as 🤗" in details[2]
    assert "special token [CLS]" in details[0]


def test_details_give_position_id_and_bytes() -> None:
    _, details, ids = shown(load_tokenizer("smollm2-135m"), "the cat")
    assert details[1] == f"position 1, id {ids[1]}, bytes 20 63 61 74"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\u200b", "⟨U+200B⟩"),
        ("\u202e", "⟨U+202E⟩"),
        ("\u00a0", "⟨U+00A0⟩"),
        ("\ufffd", "⟨U+FFFD⟩"),
        ("\x00", "⟨U+0000⟩"),
        ("\u0301", "◌\u0301"),
        ("e\u0301", "e\u0301"),
        ("שלום", "שלום"),
        (" \t\r\n", "·⇥␍⏎"),
    ],
)
def test_invisible_characters_are_named(text: str, expected: str) -> None:
    assert visible(text) == expected


def check(labels: tuple[str, ...]) -> None:
    for label in labels:
        assert label
        assert "\ufffd" not in label
        assert not label.isspace()
        assert not any(
            unicodedata.category(char) in ("Cc", "Cf", "Zs", "Zl", "Zp") for char in label
        )
        assert not unicodedata.category(label[0]).startswith("M")


NASTY = [
    "👩‍👩‍👧",
    "東京は夜",
    "שָׁלוֹם",
    "e\u0301\u0301",
    "\u202eabc\u202c",
    "a\u00adb",
    "\ufffd",
    "é" * 9,
    "🏳️‍🌈",
]


@pytest.mark.parametrize("text", NASTY)
@pytest.mark.parametrize("name", ["smollm2-135m", "minilm-l6"])
def test_nothing_is_empty_or_hidden(name: str, text: str) -> None:
    check(shown(load_tokenizer(name), text)[0])


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.text(max_size=40))
def test_any_text_is_shown(text: str) -> None:
    tokenizer = load_tokenizer("smollm2-135m")
    encoded = tokenizer(text, return_offsets_mapping=True)
    labels, _ = screen_tokens(tokenizer, encoded["input_ids"], text, encoded["offset_mapping"])
    check(labels)


def test_single_ids_without_a_text() -> None:
    """As for the next tokens, of which only the id is known; every id of the vocabulary."""
    tokenizer = load_tokenizer("smollm2-135m")
    some = range(0, len(tokenizer), 97)
    labels = tuple(screen_tokens(tokenizer, [token])[0][0] for token in some)
    check(labels)
    lone = [token for token in range(400) if tokenizer.convert_ids_to_tokens(token) == "ð"]
    for token in lone:
        assert screen_tokens(tokenizer, [token])[0] == ("⟨F0⟩",)


def test_sentencepiece_spelling() -> None:
    pieces = ["<unk>", "▁the", "▁", "cat", "▁c", "<0xF0>", "<0x9F>", "<0xA4>", "<0x97>"]
    raw = Tokenizer(Unigram([(piece, -float(n)) for n, piece in enumerate(pieces)], unk_id=0))
    raw.decoder = Sequence([ByteFallback(), Metaspace(), Fuse()])  # type: ignore[assignment]
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=raw, unk_token="<unk>")
    assert spelling_of(tokenizer) == "sentencepiece"
    labels, _ = screen_tokens(tokenizer, list(range(1, 9)))
    assert labels == ("·the", "·", "cat", "·c", "🤗¹⁄₄", "🤗²⁄₄", "🤗³⁄₄", "🤗⁴⁄₄")


def test_an_unknown_spelling_is_read_from_the_text() -> None:
    """A tokenizer that this project knows nothing about: the offsets tell its words."""
    tokenizer = word_tokenizer()
    assert spelling_of(tokenizer) == "offsets"
    labels, details, _ = shown(tokenizer, "the cat  zebra")
    assert labels == ("the", "·cat", "[UNK]")
    assert "typed as zebra" in details[2]


def test_an_unknown_spelling_without_a_text() -> None:
    raw = Tokenizer(BPE({"a": 0, "b": 1, "": 2}, []))
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=raw)
    assert screen_tokens(tokenizer, [0, 1, 2])[0] == ("a", "b", "∅")

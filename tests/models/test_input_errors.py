"""Texts that a model cannot take are refused in words, before any model work."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import transformers

import attnviz as av
from attnviz.errors import AttnvizError, ModelError, TooLargeError
from attnviz.interventions import sweep
from attnviz.models import LoadedModel, memory
from tests.models.shrink import shrink
from tests.models.tiny import TEXT, llama, tokenizer


@pytest.fixture
def untouched() -> LoadedModel:
    """A model whose every run fails the test."""
    model = llama()
    model.model.forward = lambda *a, **k: pytest.fail("the model ran")
    return model


@pytest.mark.parametrize("text", ["", "   ", "\n\t"])
def test_an_empty_text(untouched: LoadedModel, text: str) -> None:
    with pytest.raises(AttnvizError, match="type at least one word"):
        av.capture(untouched, text)


def test_a_model_of_sounds_reads_no_text() -> None:
    library: Any = transformers
    model = av.from_transformers(library.Wav2Vec2Model(shrink("wav2vec2")), tokenizer())
    with pytest.raises(AttnvizError, match="hears sound and reads no text"):
        av.capture(model, TEXT)


def test_half_a_character(untouched: LoadedModel) -> None:
    with pytest.raises(AttnvizError, match="half of a character"):
        av.capture(untouched, "cat \ud83e")


def test_too_many_characters(untouched: LoadedModel, environment: Callable[..., None]) -> None:
    environment(MAX_CHARACTERS="50000")
    with pytest.raises(TooLargeError, match=r"100,000 characters.*50,000"):
        av.capture(untouched, "x" * 100_000)


def test_more_tokens_than_the_model_takes(untouched: LoadedModel) -> None:
    with pytest.raises(TooLargeError, match=r"65 tokens.*at most 64"):
        av.capture(untouched, " ".join(["cat"] * 65))


def test_more_tokens_than_the_deployment_takes(
    untouched: LoadedModel, environment: Callable[..., None]
) -> None:
    environment(MAX_TOKENS="12")
    with pytest.raises(TooLargeError, match=r"13 tokens.*installation takes at most 12"):
        av.capture(untouched, TEXT)
    with pytest.raises(TooLargeError, match=r"at most 10"):
        av.capture(untouched, TEXT, max_tokens=10)


def test_the_owner_of_a_notebook_may_go_further(environment: Callable[..., None]) -> None:
    environment(MAX_TOKENS="12")
    assert av.capture(llama(), TEXT, max_tokens=64).n_tokens == 13


def test_the_longest_text_still_runs() -> None:
    assert av.capture(llama(), " ".join(["cat"] * 64)).n_tokens == 64


def test_more_memory_than_there_is(
    untouched: LoadedModel, environment: Callable[..., None]
) -> None:
    environment(MEMORY_GIB="0.001")
    with pytest.raises(TooLargeError, match=r"GiB of memory.*shorten the text"):
        av.capture(untouched, TEXT)


def test_the_smaller_of_limit_and_free_memory_counts(
    environment: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    environment(MEMORY_GIB="1000000")
    assert memory.available() < 1000 * memory.GIB
    monkeypatch.setattr(memory, "_container", lambda: 5 * memory.GIB)
    assert memory.available() <= 5 * memory.GIB
    environment(MEMORY_GIB="0.25")
    assert memory.available() == memory.GIB // 4


@pytest.mark.parametrize("look", [av.capture, sweep])
def test_code_of_a_model_that_breaks_is_named(look: Callable[..., Any]) -> None:
    """Any model type may be loaded, and not every one takes every text."""
    model = llama()
    model.model.model.embed_tokens.weight.data = torch.zeros(2, 64)  # fewer than the config says
    with pytest.raises(ModelError, match="failed on this input, in its own code: IndexError"):
        look(model, TEXT)

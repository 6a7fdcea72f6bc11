"""A capture's weights are transformers' own eager attentions, for every head."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import attnviz as av
from attnviz.models import LoadedModel
from tests.models.tiny import eager

pytestmark = pytest.mark.models

LONG = (
    "Attention lets each word of a sentence draw on every earlier one, in shares that add up to "
    "one. What a head looks for is written in its queries; what a word offers, in its keys; and "
    "what is carried over when they match, in its values. "
)
TEXTS = {
    "plain": "The quick brown fox jumps over the lazy dog.",
    "repeated": "the cat the dog the cat",
    "scripts": "🤗 naïve 東京は夜 שלום עולם 👩‍👩‍👧",
    "whitespace": "def f(x):\n\treturn  x\n\n  # two  spaces\t\tand tabs",
    "markup": "<s><b>x</b></s> $5 and $6",
    "single": "Hi",
    "long": " ".join(f"{number}. {LONG}" for number in range(1, 12)),
}


@pytest.fixture(params=["smollm2", "minilm"])
def model(request: pytest.FixtureRequest) -> LoadedModel:
    return request.getfixturevalue(request.param)


def cut(model: LoadedModel, text: str, n_tokens: int) -> str:
    """The longest beginning of this text that makes at most so many tokens."""
    offsets = model.tokenizer(text, return_offsets_mapping=True)["offset_mapping"]
    extra = len(model.tokenizer("")["input_ids"])  # [CLS] and [SEP]
    plain = [end for start, end in offsets if end > start]
    return text[: plain[min(n_tokens - extra, len(plain)) - 1]]


@pytest.mark.parametrize("name", TEXTS)
def test_weights_equal_eager_attentions(model: LoadedModel, name: str) -> None:
    text = cut(model, TEXTS[name], 512)
    capture = av.capture(model, text)
    if name == "long":
        assert capture.n_tokens == 512
    if name == "single" and model.kind == "decoder":
        assert capture.n_tokens == 1
    assert capture.token_ids == tuple(model.tokenizer(text)["input_ids"])
    expected = eager(model, capture.token_ids).attentions
    assert len(expected) == len(capture.layers) == model.n_layers
    for layer, maps in zip(capture.layers, expected, strict=True):
        for head in range(model.n_heads):
            got = capture.weights(layer.index, head)
            assert got.dtype == np.float32
            np.testing.assert_allclose(
                got, maps[0, head].numpy(), rtol=0, atol=1e-5, err_msg=f"{layer.index} {head}"
            )


@pytest.mark.parametrize("name", TEXTS)
def test_the_instrumented_run_equals_a_plain_one(model: LoadedModel, name: str) -> None:
    """Every position's logits (hidden states), under our interface and under SDPA."""
    from attnviz.models.interface import listening
    from attnviz.models.recorder import Recorder

    inputs = model.tokenizer(cut(model, TEXTS[name], 512), return_tensors="pt")
    recorder = Recorder(model.model, overview_size=32, expected=model.n_layers)
    with listening(model.model, recorder):
        ours = model.model(**inputs, use_cache=False)[0]
    assert len(recorder.calls) == model.n_layers
    assert model.model.config._attn_implementation == "sdpa"
    with torch.no_grad():
        plain = model.model(**inputs, use_cache=False)[0]
    assert float((ours - plain).abs().max()) <= 1e-4


def test_the_check_is_shown_with_its_numbers(model: LoadedModel) -> None:
    check = av.capture(model, TEXTS["plain"]).check
    assert check.passed
    assert check.logits_error is not None
    assert check.logits_error <= 1e-4
    assert check.output_error <= 1e-5
    assert check.row_sum_error <= 1e-5
    assert check.mask_leak == 0
    assert check.compared == ("logits" if model.kind == "decoder" else "hidden states")
    assert check.compared in check.sentence


def test_the_public_names_work_as_written(smollm2: LoadedModel) -> None:
    for _ in range(2):  # a second look must find the same names
        capture: Any = av.capture(smollm2, "The quick brown fox")
        weights = capture.weights(layer=3, head=5)
        assert weights.shape == (4, 4)
        np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-6)
        assert (np.triu(weights, 1) == 0).all()

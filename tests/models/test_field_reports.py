"""What people report of other tools, padding, windows and repeats, each on its smallest input."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import transformers as hf

import attnviz as av
from attnviz.models.interface import running
from tests.models.tiny import COMMON, TEXT, build, llama


@pytest.mark.parametrize("side", ["left", "right"])
def test_a_tokenizer_that_pads_to_512_adds_nothing_to_the_maps(side: str) -> None:
    """8 real tokens padded to 512 make other tools crawl, and NaN of left padding."""
    model = llama()
    plain = av.capture(model, TEXT)
    model.tokenizer.pad_token = "[UNK]"
    model.tokenizer.padding_side = side
    model.tokenizer.backend_tokenizer.enable_padding(length=512, direction=side)
    padded = av.capture(model, TEXT)
    assert padded.token_ids == plain.token_ids
    np.testing.assert_array_equal(padded.weights(2, 3), plain.weights(2, 3))


def test_the_window_is_the_configs_own() -> None:
    """Mistral with sliding_window=4 on 10 tokens: the last row sees positions 6 to 9."""
    config = hf.MistralConfig(**COMMON, num_key_value_heads=2, sliding_window=4)
    capture = av.capture(build(config), " ".join(TEXT.split()[:10]))
    assert capture.n_tokens == 10
    for head in range(4):
        assert np.flatnonzero(capture.weights(1, head)[-1]).tolist() == [6, 7, 8, 9]
    assert np.flatnonzero(~capture.blocked(1)[-1]).tolist() == [6, 7, 8, 9]


def test_repeated_words_keep_their_rows_and_columns() -> None:
    """`the cat the dog` is drawn 3 x 3 by tools that take tokens for names."""
    capture = av.capture(llama(), "the cat the dog")
    assert [token.strip("·") for token in capture.tokens] == ["the", "cat", "the", "dog"]
    assert capture.weights(0, 0).shape == (4, 4)
    assert capture.overview().shape[-2:] == (4, 4)


@pytest.mark.parametrize("asked", [{"output_attentions": True}, {}])
def test_attentions_asked_of_a_fused_backend_change_nothing(asked: dict[str, bool]) -> None:
    """SDPA hands back an empty tuple; the capture's maps do not depend on what was asked for."""
    model = llama()
    ids = torch.tensor([[1, 2, 3, 4, 5, 6]])
    with torch.no_grad():
        returned = model.model(ids, use_cache=False, **asked).attentions
    assert not returned  # () or None: nothing to draw
    text = "the cat sat on mat and"
    capture = av.capture(model, text)
    with running(model.model, "eager"):
        inputs = torch.tensor([capture.token_ids])
        maps = model.model(inputs, output_attentions=True, use_cache=False).attentions
    assert len(maps) == len(capture.captured) == 3
    for layer in range(3):
        for head in range(4):
            np.testing.assert_allclose(
                capture.weights(layer, head), maps[layer][0, head], atol=1e-6
            )
        assert np.triu(capture.weights(layer, 0), 1).sum() == 0  # no token looks ahead


def test_half_precision_is_widened_before_it_is_drawn() -> None:
    """bfloat16 cannot become numpy, and its rows sum to 0.998."""
    model = llama()
    model.model.to(torch.bfloat16)
    weights = av.capture(model, TEXT).weights(1, 2)
    assert weights.dtype == np.float32
    np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-5)

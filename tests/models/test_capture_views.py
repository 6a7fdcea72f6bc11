"""Tiles, overviews, metrics, masks and next tokens: all views of one run."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import numpy as np
import pandas as pd
import pytest
import torch

import attnviz as av
from attnviz.errors import AttnvizError
from attnviz.metrics import patterns
from attnviz.metrics.heads import NAMES, head_metrics
from attnviz.models import LoadedModel
from attnviz.models.captures import Capture
from tests.models import tiny

WORDS = " ".join(tiny.WORDS[1 + place % 11] for place in range(300))


@pytest.fixture(scope="module", params=["causal", "window", "both ways"])
def capture(request: pytest.FixtureRequest) -> Capture:
    """300 tokens, so that rows stream in more than one block."""
    from transformers import BertConfig, MistralConfig

    wide = tiny.COMMON | {"max_position_embeddings": 512}
    if request.param == "causal":
        model = tiny.llama(max_position_embeddings=512)
    elif request.param == "window":
        model = tiny.build(MistralConfig(**wide, num_key_value_heads=2, sliding_window=9))
    else:
        model = tiny.build(BertConfig(**wide), "encoder")
    return av.capture(model, WORDS)


def maps_of(capture: Capture) -> np.ndarray:
    return np.stack(
        [
            np.stack([capture.weights(layer.index, head) for head in range(layer.n_heads)])
            for layer in capture.captured
        ]
    )


@pytest.mark.parametrize(
    ("rows", "cols"),
    [
        (slice(0, 40), slice(100, 140)),
        (slice(250, 300), slice(0, 300)),
        (slice(290, 291), None),
        (None, slice(5, 6)),
        (slice(3, 299, 7), slice(1, None, 3)),
        (slice(-10, None), slice(-12, -2)),
        (slice(20, 20), slice(0, 5)),
    ],
)
def test_a_tile_is_a_slice_of_the_full_map(
    capture: Capture, rows: slice | None, cols: slice | None
) -> None:
    for layer in capture.layers:
        full, blocked = capture.weights(layer.index, 1), capture.blocked(layer.index)
        part = full[rows or slice(None), cols or slice(None)]
        tile = capture.weights(layer.index, 1, rows=rows, cols=cols)
        assert tile.shape == part.shape
        np.testing.assert_allclose(tile, part, rtol=0, atol=1e-6)
        mask = capture.blocked(layer.index, rows=rows, cols=cols)
        np.testing.assert_array_equal(mask, blocked[rows or slice(None), cols or slice(None)])


def test_blocked_cells_have_no_weight_and_others_some(capture: Capture) -> None:
    for layer in capture.layers:
        blocked = capture.blocked(layer.index)
        weights = capture.weights(layer.index, 0)
        assert (weights[blocked] == 0).all()
        np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-5)
        i, j = np.indices(blocked.shape)
        if layer.window is not None:
            np.testing.assert_array_equal(blocked, (j > i) | (j <= i - layer.window))
        elif blocked.any():
            np.testing.assert_array_equal(blocked, j > i)


@pytest.mark.parametrize("size", [1, 7, 32, 299, 300, 4000])
def test_the_overview_is_the_mean_of_each_block(capture: Capture, size: int) -> None:
    maps, cells = maps_of(capture), min(size, 300)
    where = np.arange(300) * cells // 300
    expected = np.zeros((*maps.shape[:2], cells, cells))
    for a in range(cells) if cells <= 32 else (0, cells // 2, cells - 1):
        for b in range(cells):
            block = maps[:, :, where == a][:, :, :, where == b]
            expected[:, :, a, b] = block.mean((2, 3))
    got = capture.overview(size)
    assert got.shape == expected.shape
    seen = slice(None) if cells <= 32 else [0, cells // 2, cells - 1]
    np.testing.assert_allclose(got[:, :, seen], expected[:, :, seen], atol=1e-6)


def test_metrics_are_those_of_the_full_maps(capture: Capture) -> None:
    frame = capture.metrics()
    assert list(frame.columns) == ["layer", "head", *NAMES, *patterns.NAMES]
    assert len(frame) == sum(layer.n_heads for layer in capture.layers)
    expected = torch.cat([head_metrics(torch.from_numpy(maps)) for maps in maps_of(capture)])
    np.testing.assert_allclose(frame[list(NAMES)], expected, atol=1e-4)


def test_a_short_text_has_a_cell_a_token() -> None:
    capture = av.capture(tiny.llama(), tiny.TEXT)
    np.testing.assert_allclose(capture.overview(), maps_of(capture), atol=1e-7)


@pytest.mark.parametrize(
    "ask",
    [
        lambda c: c.weights(3, 0),
        lambda c: c.weights(-1, 0),
        lambda c: c.weights(0, 4),
        lambda c: c.weights(0, -1),
        lambda c: c.weights(0, 0, rows=slice(None, None, -1)),
        lambda c: c.blocked(99),
    ],
)
def test_what_is_not_there_is_refused_in_words(capture: Capture, ask) -> None:
    with pytest.raises(AttnvizError, match=r"layers 0 to 2|heads 0 to 3|run forwards"):
        ask(capture)


def test_a_span_that_ends_before_it_starts_is_empty(capture: Capture) -> None:
    for maps in (capture, capture.by_words()):
        assert maps.weights(1, 2, rows=slice(5, 2)).shape == (0, maps.n_keys)
        assert maps.blocked(1, cols=slice(5, 2)).shape == (maps.n_tokens, 0)


def test_a_capture_cannot_be_changed(capture: Capture) -> None:
    with pytest.raises(FrozenInstanceError):
        capture.text = "other"  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        capture.overview()[0, 0, 0, 0] = 1


def test_next_tokens_are_the_model_s_own() -> None:
    model = tiny.llama()
    capture = av.capture(model, tiny.TEXT)
    with torch.no_grad():
        logits = model.model(torch.tensor([capture.token_ids])).logits[0, -1]
    best = logits.softmax(-1).topk(3)
    got = capture.next_tokens(3)
    assert isinstance(got, pd.DataFrame)
    assert got["token_id"].tolist() == best.indices.tolist()
    np.testing.assert_allclose(got["probability"], best.values, atol=1e-6)


def test_an_encoder_predicts_no_next_token() -> None:
    from transformers import BertConfig

    model: LoadedModel = tiny.build(BertConfig(**tiny.COMMON), "encoder")
    assert av.capture(model, tiny.TEXT).next_tokens() is None

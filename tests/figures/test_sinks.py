"""A learned sink stands beside the keys, and with it every row sums to 1."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
import torch
from torch import Tensor

import attnviz as av
from attnviz.errors import AttnvizError
from attnviz.figures import capture as figures
from attnviz.figures import numbers
from attnviz.figures.parts import Request
from attnviz.figures.sinks import with_sinks
from attnviz.interventions import value_weighted
from attnviz.metrics.ranking import which_heads
from attnviz.models import Capture, LoadedModel
from tests.models.shrink import build as tiny
from tests.models.tiny import TEXT, eager, llama, tokenizer


def made(name: str, task: str = "CAUSAL_LM") -> LoadedModel:
    """A model whose sinks differ from head to head, and take much."""
    torch.manual_seed(0)
    model = av.from_transformers(tiny(task, name), tokenizer())
    with torch.no_grad():
        for place, (key, parameter) in enumerate(model.model.named_parameters()):
            if parameter.ndim > 1:
                parameter.normal_(0.0, 0.25)
            if key.endswith("sinks"):
                parameter.copy_(torch.linspace(-1, 2, len(parameter)) + 0.01 * place)
    return model


@contextmanager
def softmaxes(width: int) -> Iterator[list[Tensor]]:
    """What every softmax over rows of this width gives, whoever calls it."""
    seen: list[Tensor] = []
    before = torch.nn.functional.softmax

    def listening(scores: Tensor, *args: object, **options: object) -> Tensor:
        out = before(scores, *args, **options)
        if out.ndim == 4 and out.shape[-1] == width:
            seen.append(out.detach())
        return out

    torch.nn.functional.softmax = listening
    try:
        yield seen
    finally:
        torch.nn.functional.softmax = before


@pytest.fixture(scope="module")
def model() -> LoadedModel:
    return made("gpt_oss")


@pytest.fixture(scope="module")
def capture(model: LoadedModel) -> Capture:
    return av.capture(model, TEXT)


def test_the_column_is_what_transformers_drops(model: LoadedModel, capture: Capture) -> None:
    """Its eager code: softmax(concat(scores, sink)), and then the last column is cut off."""
    with softmaxes(14) as seen:
        eager(model, capture.token_ids)
    assert len(seen) == len(capture.layers) == 2
    for layer, whole in enumerate(seen):
        for head in range(whole.shape[1]):
            theirs = whole[0, head].numpy()
            np.testing.assert_allclose(capture.sink_weights(layer, head), theirs[:, -1], atol=1e-5)
            (panel,) = figures.capture_figure(capture, layer, head).panels
            np.testing.assert_allclose(panel.values, theirs, atol=1e-5)
            np.testing.assert_allclose(panel.values.sum(1), 1, atol=1e-6)
            assert panel.blocked is not None
            assert not panel.blocked[:, -1].any()
            assert panel.cols.labels == (*capture.tokens, "sink")
            assert panel.cols.special == (False,) * 13 + (True,)
            assert panel.rows.labels == capture.tokens
            said = "softmax weights with the sink's, 13 × 14, rows sum to 1"
            assert panel.subtitle == said
    heads = [capture.sink_weights(0, head).mean() for head in range(4)]
    assert np.ptp(heads) > 0.05


def test_heads_are_ranked_by_what_they_give_to_it(capture: Capture) -> None:
    maps = with_sinks(capture)
    assert figures.shape(capture) == (13, 14)
    assert maps.key_tokens[-1] == "sink"
    table = which_heads(maps, 3, 13)
    given = [
        capture.sink_weights(layer, head)[3]
        for layer, head in zip(table["layer"], table["head"], strict=True)
    ]
    np.testing.assert_allclose(table["weight"], given, atol=1e-6)
    assert (np.diff(given) <= 0).all()
    block = which_heads(maps, slice(2, 5), slice(11, 14)).iloc[0]
    tile = maps.weights(int(block["layer"]), int(block["head"]), slice(2, 5), slice(11, 14))
    assert block["weight"] == pytest.approx(tile.mean(), abs=1e-6)


def test_every_thumbnail_has_it(capture: Capture) -> None:
    grid = figures.capture_figure(capture, 0, 0).grid
    assert grid is not None
    assert grid.thumbnails.shape == (2, 4, 13, 14)
    np.testing.assert_allclose(grid.thumbnails[1, 3], with_sinks(capture).weights(1, 3), atol=1e-5)
    small = with_sinks(capture).overview(4)
    assert small.shape == (2, 4, 4, 5)
    cells = np.arange(13) * 4 // 13
    means = [capture.sink_weights(1, 3)[cells == cell].mean() for cell in range(4)]
    np.testing.assert_allclose(small[1, 3, :, 4], means, atol=1e-6)


def test_a_layer_without_a_sink_beside_others_hides_the_column() -> None:
    """MiMo-V2-Flash has sinks in its sliding layers only."""
    capture = av.capture(made("mimo_v2_flash"), TEXT)
    assert [layer.sinks for layer in capture.captured] == [False, True]
    assert figures.capture_figure(capture, 0, 0).grid.stack is None  # type: ignore[union-attr]
    for layer, masked in ((0, True), (1, False)):
        (panel,) = figures.capture_figure(capture, layer, 0).panels
        assert panel.blocked is not None
        assert (panel.blocked[:, -1] == masked).all()
        assert (panel.values[:, -1] > 0).all() != masked
        np.testing.assert_allclose(panel.values.sum(1), 1, atol=1e-6)


def test_a_sink_may_be_each_query_s_own() -> None:
    """Inkling computes its sinks from the hidden states, one a query."""
    model = made("inkling2", "IMAGE_TEXT_TO_TEXT")
    capture = av.capture(model, TEXT)
    assert capture.check.passed
    with softmaxes(14) as seen:
        eager(model, capture.token_ids)
    for layer, whole in enumerate(seen):
        theirs = whole[0, 1, :, -1].numpy()
        np.testing.assert_allclose(capture.sink_weights(layer, 1), theirs, atol=1e-5)


@pytest.mark.parametrize(
    ("rows", "cols", "block"),
    [
        ((0, 13), (0, 14), 4),  # the sink shares the last block with a key
        ((2, 9), (10, 14), 4),
        ((0, 13), (2, 14), 4),  # three whole blocks of keys, or two and the sink's own
        ((0, 13), (5, 14), 4),  # the sink has a block to itself
        ((3, 8), (13, 14), 2),  # the sink alone
        ((0, 13), (0, 13), 4),  # without it
        ((4, 7), (11, 14), 1),
    ],
)
def test_parts_and_overviews_hold_it(
    capture: Capture,
    monkeypatch: pytest.MonkeyPatch,
    rows: tuple[int, int],
    cols: tuple[int, int],
    block: int,
) -> None:
    monkeypatch.setattr(figures, "LONGEST_SIDE", 4)
    monkeypatch.setattr(figures, "OVERVIEW_SIDE", 1)
    coarsest = figures.block_of(14)
    assert coarsest == 16
    monkeypatch.setattr(figures, "OVERVIEW_SIDE", 64)
    monkeypatch.setattr(figures, "block_of", lambda _: coarsest)
    whole = with_sinks(capture).weights(1, 2)
    got = figures.part(capture, Request(1, 2, rows, cols, block))
    cut = whole[slice(*rows), slice(*cols)]
    down, across = (np.arange(0, side, block) for side in cut.shape)
    largest = np.maximum.reduceat(np.maximum.reduceat(cut, down, axis=0), across, axis=1)
    np.testing.assert_allclose(got.values, largest, atol=1e-6)
    assert got.blocked.shape == got.values.shape
    if cols[1] == 14:
        assert not got.blocked[:, -1].any()


def test_a_long_text_s_overview_holds_it(capture: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "LONGEST_SIDE", 4)
    monkeypatch.setattr(figures, "OVERVIEW_SIDE", 4)
    (panel,) = figures.capture_figure(capture, 1, 2).panels
    whole = with_sinks(capture).weights(1, 2)
    assert (panel.block, panel.values.shape, len(panel.cols.labels)) == (4, (4, 4), 14)
    np.testing.assert_allclose(
        panel.values[:, 3],
        np.maximum.reduceat(whole[:, 12:].max(1), np.arange(0, 13, 4)),
        atol=1e-6,
    )
    np.testing.assert_allclose(panel.tops, whole.max(1), atol=1e-6)
    with pytest.raises(AttnvizError, match="columns 0 to 13"):
        figures.part(capture, Request(1, 2, (0, 2), (0, 15), 1))
    with pytest.raises(AttnvizError, match="rows 0 to 12"):
        figures.part(capture, Request(1, 2, (0, 14), (0, 2), 1))


def test_files_hold_it(capture: Capture) -> None:
    with np.load(io.BytesIO(numbers.to_npz(capture, 0, 1)), allow_pickle=False) as file:
        np.testing.assert_allclose(file["weights"].sum(1) + file["sink"], 1, atol=1e-6)
    header, *rows = csv.reader(io.StringIO(numbers.to_csv(capture, 0, 1)))
    assert header[-1] == "sink"
    assert all(abs(sum(map(float, row[1:])) - 1) < 1e-6 for row in rows)


def test_models_without_sinks_have_no_such_column() -> None:
    capture = av.capture(llama(), TEXT)
    assert with_sinks(capture) is capture
    assert not capture.sink_weights(1, 1).any()
    (panel,) = figures.capture_figure(capture, 0, 0).panels
    assert panel.cols.labels == capture.tokens
    with np.load(io.BytesIO(numbers.to_npz(capture, 0, 1)), allow_pickle=False) as file:
        assert "sink" not in file


def test_norms_have_none_for_a_sink_brings_nothing(model: LoadedModel, capture: Capture) -> None:
    (panel,) = figures.capture_figure(value_weighted(model, capture), 0, 0).panels
    assert panel.cols.labels == capture.tokens
    assert "sum" not in panel.subtitle

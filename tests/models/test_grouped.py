"""Maps by words and without special tokens, against sums and means of the full maps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import transformers

import attnviz as av
from attnviz.errors import AttnvizError
from attnviz.figures.capture import Maps, capture_figure
from attnviz.figures.capture_words import titles, words_of
from attnviz.metrics.heads import NAMES, head_metrics
from attnviz.models import Capture, LoadedModel, grouped
from tests.models import tiny

pytestmark = pytest.mark.models

TEXT = "The unbelievable hugs 🤗 of 東京, שלום and cafe\u0301. The hugs, the hugs!"


@pytest.fixture(scope="module")
def decoded(smollm2: LoadedModel) -> Capture:
    return av.capture(smollm2, TEXT)


@pytest.fixture(scope="module")
def dates() -> Capture:
    return av.capture(av.load_model("date-translator"), source="3 May 2021")


def matrices(starts: np.ndarray, length: int) -> tuple[np.ndarray, np.ndarray]:
    """(means, sums): words x tokens, and tokens x words."""
    of = np.searchsorted(starts, np.arange(length), side="right") - 1
    one_hot = (of[:, None] == np.arange(len(starts))).astype(float)
    return (one_hot / one_hot.sum(0)).T, one_hot


def expected(maps: grouped.GroupedMaps, layer: int, head: int) -> np.ndarray:
    """The map of all words, from the definition."""
    mean, _ = matrices(maps.rows.starts, maps.rows.length)
    _, total = matrices(maps.cols.starts, maps.cols.length)
    return mean @ maps.base.weights(layer, head).astype(float) @ total


def test_a_words_row_is_the_mean_over_its_queries_of_the_sum_over_keys(decoded: Capture) -> None:
    words = decoded.by_words()
    assert isinstance(words, Maps)
    assert words.tokens[5:8] == ("·東", "京", ",")
    assert 1 < words.n_tokens < decoded.n_tokens
    for layer, head in ((0, 0), (7, 2), (29, 8)):
        found = words.weights(layer, head)
        np.testing.assert_allclose(found, expected(words, layer, head), atol=1e-6)
        np.testing.assert_allclose(found.sum(1), 1.0, atol=1e-6)


def test_any_part_is_that_part_of_the_whole_in_blocks_of_any_size(
    decoded: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = decoded.by_words()
    whole, masked = words.weights(3, 4), words.blocked(3)
    mean, total = matrices(words.rows.starts, decoded.n_tokens)
    open_pairs = mean @ ~decoded.blocked(3) @ total
    np.testing.assert_array_equal(masked, open_pairs == 0)
    monkeypatch.setattr(grouped, "CELLS", 1)  # a word at a time: products of other shapes
    np.testing.assert_allclose(words.weights(3, 4), whole, atol=5e-6)
    part = words.weights(3, 4, rows=slice(2, 9), cols=slice(1, 6))
    np.testing.assert_allclose(part, whole[2:9, 1:6], atol=5e-6)
    np.testing.assert_allclose(words.weights(3, 4, rows=slice(0, 9, 3)), whole[0:9:3], atol=5e-6)
    np.testing.assert_array_equal(words.blocked(3, slice(2, 9), slice(1, 6)), masked[2:9, 1:6])
    np.testing.assert_allclose(words.tops(3, 4), whole.max(1), atol=5e-6)
    cells, closed = words.largest(3, 4, 4, rows=slice(1, 12), cols=slice(2, 9))
    assert cells.shape == closed.shape == (3, 2)
    assert cells[1, 0] == pytest.approx(whole[5:9, 2:6].max(), abs=5e-6)
    assert closed[0, 1] == masked[1:5, 6:9].all()


def test_metrics_and_overviews_are_those_of_the_map_of_words(decoded: Capture) -> None:
    import torch

    words = decoded.by_words()
    table = words.metrics()
    row = table[(table["layer"] == 7) & (table["head"] == 2)].iloc[0]
    told = head_metrics(torch.from_numpy(expected(words, 7, 2))[None])[0]
    np.testing.assert_allclose(row[list(NAMES)].to_numpy(float), told, atol=1e-5)
    assert list(table.columns) == ["layer", "head", *NAMES]
    assert words.overview().shape == (30, 9, words.n_tokens, words.n_tokens)
    np.testing.assert_allclose(words.overview()[7, 2], expected(words, 7, 2), atol=1e-6)
    n = words.n_tokens
    cell = np.arange(n) * 4 // n
    block = expected(words, 7, 2)[cell == 3][:, cell == 1].mean()
    assert words.overview(4)[7, 2, 3, 1] == pytest.approx(block, abs=1e-6)


def test_hidden_special_tokens_move_no_other_cell(minilm: LoadedModel) -> None:
    capture = av.capture(minilm, "Unbelievably, the cat sat.")
    full = capture.weights(2, 3)
    less = capture.without_special()
    assert less.tokens == capture.tokens[1:-1]
    np.testing.assert_allclose(less.weights(2, 3), full[1:-1, 1:-1], rtol=1e-5)  # other tiles
    assert less.weights(2, 3).sum(1).max() < 1
    table = less.metrics()
    at = (table["layer"] == 2) & (table["head"] == 3)
    hidden = full[1:-1][:, [0, -1]].sum(1).mean()
    assert table[at]["hidden"].item() == pytest.approx(hidden, abs=1e-6)
    kept = [*NAMES]  # what is out of sight is measured all the same
    np.testing.assert_allclose(table[kept], capture.metrics()[kept], rtol=1e-5)

    anew = capture.without_special(renormalise=True)
    inner = full[1:-1, 1:-1].astype(float)
    np.testing.assert_allclose(anew.weights(2, 3), inner / inner.sum(1, keepdims=True), atol=1e-6)
    np.testing.assert_allclose(
        anew.weights(2, 3, cols=slice(2, 4)), anew.weights(2, 3)[:, 2:4], atol=1e-7
    )
    entropy = -(anew.weights(2, 3) * np.log(anew.weights(2, 3))).sum(1).mean()
    measured = anew.metrics()[at]["entropy"].item()
    assert measured == pytest.approx(float(entropy), abs=1e-5)


@pytest.mark.parametrize("by_words", [False, True])
def test_rows_shared_out_anew_are_measured_on_what_is_shown(
    minilm: LoadedModel, monkeypatch: pytest.MonkeyPatch, by_words: bool
) -> None:
    """Its first key is the first that is shown, and its first row has none before it."""
    capture = av.capture(minilm, "Unbelievably, the cat sat.")
    anew = (capture.by_words() if by_words else capture).without_special(renormalise=True)
    shown = anew.weights(2, 3).astype(float)
    n = len(shown)
    gaps = np.abs(np.arange(n)[:, None] - np.arange(n))
    entropies = -(shown * np.log(shown)).sum(1)
    wanted = {
        "entropy": entropies.mean(),
        "distance": (shown * gaps).sum(1).mean(),
        "first": shown[:, 0].mean(),
        "previous": np.diag(shown, -1).mean(),
        "self": np.diag(shown).mean(),
        "span": np.exp(entropies).mean(),
    }
    one_block = anew.metrics()
    monkeypatch.setattr(grouped, "CELLS", 1)  # a row at a time
    for table in (one_block, replace(anew, known=None).metrics()):
        row = table[(table["layer"] == 2) & (table["head"] == 3)].iloc[0]
        found = row[list(NAMES)].to_numpy(float)
        np.testing.assert_allclose(found, [wanted[name] for name in NAMES], rtol=1e-4)


def test_words_without_special_ones_and_the_other_way_round(minilm: LoadedModel) -> None:
    capture = av.capture(minilm, "Unbelievably, the cat sat.")
    one, other = capture.by_words().without_special(), capture.without_special().by_words()
    assert one.tokens == other.tokens == ("unbelievably", ",", "the", "cat", "sat", ".")
    wanted = expected(capture.by_words(), 2, 3)[1:-1, 1:-1]
    for maps in (one, other):
        np.testing.assert_allclose(maps.weights(2, 3), wanted, atol=1e-6)


def test_cross_maps_have_words_on_both_sides_and_never_shift(dates: Capture) -> None:
    cross = dates.of("cross")
    full = cross.weights(0, 1)
    less = cross.without_special()
    assert less.keys is not None
    kept_rows = [i for i, special in enumerate(cross.special) if not special]
    assert cross.keys is not None
    kept_cols = [j for j, special in enumerate(cross.keys.special) if not special]
    assert len(kept_cols) < full.shape[1]  # the end token of the source
    np.testing.assert_array_equal(less.weights(0, 1), full[kept_rows][:, kept_cols])
    assert less.keys.labels == tuple(cross.keys.labels[j] for j in kept_cols)
    words = cross.by_words()
    assert words.keys is not None
    assert words.keys.labels == ("3", "·may", "·2021", "</s>")
    np.testing.assert_allclose(words.weights(0, 1), expected(words, 0, 1), atol=1e-6)
    np.testing.assert_allclose(words.weights(0, 1).sum(1), 1.0, atol=1e-6)
    figure = capture_figure(words, 0, 1)
    assert figure.panels[0].cols.labels == words.keys.labels
    assert figure.panels[0].rows.labels == words.tokens


def test_effective_maps_add_up_too_but_share_nothing_out() -> None:
    config = transformers.MambaConfig(
        vocab_size=64, hidden_size=16, num_hidden_layers=1, state_size=4, expand=2
    )
    effective = av.capture(tiny.build(config), "the cat sat on the mat").effective
    assert effective is not None
    words = effective.by_words()
    np.testing.assert_allclose(words.weights(0, 1), expected(words, 0, 1), atol=1e-6)
    np.testing.assert_array_equal(words.metrics(), effective.metrics())
    assert titles(words)["decay"] == titles(effective)["decay"]  # a mean over tokens, not words
    assert words_of(words)["rows"] == "word that reads the state"
    with pytest.raises(AttnvizError, match="signed"):
        effective.without_special(renormalise=True)


def test_a_backward_slice_is_a_sentence(decoded: Capture) -> None:
    with pytest.raises(AttnvizError, match="run forwards"):
        decoded.by_words().weights(0, 0, rows=slice(5, 0, -1))

"""Comparisons against plain computations from whole maps."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import torch
import transformers
from scipy.spatial.distance import jensenshannon

import attnviz as av
from attnviz.comparing import compare
from attnviz.comparing.changes import divergence
from attnviz.errors import AttnvizError
from attnviz.metrics.similarity import jensen_shannon, total_variation
from attnviz.models import Capture, LoadedModel
from attnviz.models.layers import LayerRecord
from tests.models import tiny
from tests.models.shrink import build

A, B = tiny.TEXT, "the cat ran on the old mat and it sat off"


@pytest.fixture(scope="module")
def model() -> LoadedModel:
    return tiny.llama(sliding_window=None)


@pytest.fixture(scope="module")
def two(model: LoadedModel) -> tuple[Capture, Capture]:
    return av.capture(model, A), av.capture(model, B)


def test_the_difference_is_b_minus_a_and_undefined_without_a_partner(two) -> None:
    a, b = two
    found = compare(a, b)
    assert found.rows is found.cols
    assert len(found.rows.pairs) < len(found.rows)  # some have none
    shown = found.difference((1, 3))
    defined = np.zeros_like(shown, dtype=bool)
    slots = np.flatnonzero(found.rows.paired)
    for row, (i, u) in zip(slots, found.rows.pairs, strict=True):
        for col, (j, v) in zip(slots, found.cols.pairs, strict=True):
            expected = b.weights(1, 3)[u, v] - a.weights(1, 3)[i, j]
            assert shown[row, col] == pytest.approx(expected, abs=1e-7)
            defined[row, col] = True
    assert np.isnan(shown[~defined]).all()


def test_both_maps_keep_all_their_weight(two) -> None:
    for part, whole in zip(compare(*two).maps((0, 2)), two, strict=False):
        there = ~np.isnan(part.values)
        assert part.values[there].sum() == pytest.approx(whole.n_tokens, abs=1e-4)
        np.testing.assert_array_equal(
            part.values[there].reshape(whole.n_tokens, -1), whole.weights(0, 2)
        )


@pytest.mark.parametrize("block", [2, 4, 5])
def test_blocks_hold_the_largest_cell_sign_kept(two, block: int) -> None:
    whole = compare(*two).maps((2, 1))
    for part, full in zip(compare(*two).maps((2, 1), block=block), whole, strict=True):
        side = -(-full.values.shape[0] // block)
        assert part.values.shape == (side, side)
        for down in range(side):
            for across in range(side):
                rows, cols = (slice(at * block, (at + 1) * block) for at in (down, across))
                cells = full.values[rows, cols].ravel()
                cells = cells[~np.isnan(cells)]
                if not len(cells):
                    assert np.isnan(part.values[down, across])
                    continue
                assert abs(part.values[down, across]) == np.abs(cells).max()
                assert part.values[down, across] in cells
                assert part.blocked[down, across] == full.blocked[rows, cols].all()
        np.testing.assert_array_equal(part.tops, full.tops)


def _plain(a: Capture, b: Capture, layer: int, head: int) -> tuple[float, float]:
    """Distance and moved weight from whole maps, in float64."""
    pairs = compare(a, b).rows.pairs
    i, u = (torch.tensor(side) for side in zip(*pairs, strict=True))
    p = torch.from_numpy(a.weights(layer, head)).double()[i][:, i]
    q = torch.from_numpy(b.weights(layer, head)).double()[u][:, u]
    p, q = (torch.cat([side, 1 - side.sum(-1, keepdim=True)], -1) for side in (p, q))
    return jensen_shannon(p.clamp_min(0), q.clamp_min(0)).sqrt().item(), total_variation(
        p, q
    ).item()


@pytest.mark.parametrize("texts", [(A, B), (A, A), (B, "it " + B)])
def test_the_table_holds_the_distances_of_whole_maps(model: LoadedModel, texts) -> None:
    a, b = (av.capture(model, text) for text in texts)
    table = compare(a, b).changes().table
    assert len(table) == 3 * 4
    assert table["distance"].is_monotonic_decreasing
    for line in table.itertuples():
        distance, moved = _plain(a, b, line.layer, line.head)
        assert line.distance**2 == pytest.approx(distance**2, abs=1e-6)
        assert line.moved == pytest.approx(moved, abs=1e-6)


def test_blocks_change_nothing_and_none_is_large(two, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = compare(*two).changes()
    sizes = []
    read = LayerRecord.weights

    def measured(*given):
        sizes.append((part := read(*given)).numel())
        return part

    monkeypatch.setattr(LayerRecord, "weights", measured)
    monkeypatch.setattr("attnviz.comparing.changes.CELLS", 40)  # a head and three rows at a time
    parts = compare(*two).changes()
    assert max(sizes) <= 40
    np.testing.assert_allclose(
        parts.table[["distance", "moved"]], whole.table[["distance", "moved"]], atol=1e-5
    )
    np.testing.assert_allclose(parts.thumbnails, whole.thumbnails, atol=1e-5)


def test_thumbnails_are_means_of_the_differences(two) -> None:
    found = compare(*two)
    thumbnails = found.changes().thumbnails
    for layer in range(3):
        for head in range(4):
            expected = found.difference((layer, head))
            np.testing.assert_allclose(
                thumbnails[layer, head], expected, atol=1e-6
            )  # a cell a slot
    coarse = found.changes(size=4).thumbnails[1, 2]
    bins = np.arange(len(found.rows)) * 4 // len(found.rows)
    whole = found.difference((1, 2))
    for down in range(4):
        for across in range(4):
            cells = whole[np.ix_(bins == down, bins == across)]
            if np.isnan(cells).all():
                assert np.isnan(coarse[down, across])
            else:
                assert coarse[down, across] == pytest.approx(np.nanmean(cells), abs=1e-6)


def test_the_same_text_and_model_change_nothing_at_all(model: LoadedModel) -> None:
    a, b = av.capture(model, A), av.capture(model, A)
    changed = compare(a, b).changes()
    assert (changed.table[["distance", "moved"]] == 0).all(axis=None)
    assert (changed.thumbnails == 0).all()


@pytest.mark.parametrize("longer", ["the cat sat on", "the cat sat on the mat the cat"])
def test_equal_rows_do_not_move_for_keys_that_they_do_not_see(
    model: LoadedModel, longer: str
) -> None:
    """A causal prefix attends as it did; the keys behind it are unpaired and have no weight."""
    for text in ("the", "the cat sat"):
        found = compare(av.capture(model, text), av.capture(model, longer)).changes().table
        assert found[["distance", "moved"]].max(axis=None) < 1e-6  # what 1 - sum leaves: 1e-3


def test_a_sink_is_in_the_rest_of_a_row() -> None:
    torch.manual_seed(0)
    model = av.from_transformers(build("CAUSAL_LM", "gpt_oss"), tiny.tokenizer())
    a, b = av.capture(model, "the cat sat"), av.capture(model, "the cat sat on the mat")
    assert a.weights(0, 0).sum(-1).max() < 0.9
    assert compare(a, b).changes().table[["distance", "moved"]].max(axis=None) < 1e-6


def test_the_head_whose_queries_were_changed_comes_first(model: LoadedModel) -> None:
    """Of its layer; and no head before it moves at all."""
    other = copy.deepcopy(model.model)
    head, dim = 2, other.config.hidden_size // other.config.num_attention_heads
    with torch.no_grad():
        other.model.layers[1].self_attn.q_proj.weight[head * dim : (head + 1) * dim] *= -1
    checkpoint = av.from_transformers(other, model.tokenizer)
    table = compare(av.capture(model, A), av.capture(checkpoint, A)).changes().table
    layer = table[table["layer"] == 1]
    assert layer.iloc[0]["head"] == head
    assert (layer.iloc[1:]["distance"] == 0).all()
    assert (table[table["layer"] == 0]["distance"] == 0).all()
    assert (table[table["layer"] == 2]["distance"] > 0).all()


def test_models_of_other_shapes_are_not_ranked_but_compared(model: LoadedModel) -> None:
    small = tiny.llama(num_hidden_layers=2, num_attention_heads=2, num_key_value_heads=1)
    found = compare(av.capture(model, A), av.capture(small, B))
    assert not found.same_shape
    assert "3 layers of 4 heads, B has 2 layers of 2 heads" in found.sentences[-1]
    with pytest.raises(AttnvizError, match="not ranked"):
        found.changes()
    shown = found.difference((2, 3), (1, 1))
    assert shown.shape == (len(found.rows), len(found.rows))
    assert np.nanmax(np.abs(shown)) > 0
    with pytest.raises(AttnvizError, match="layer 2 is not there"):
        found.difference((2, 3))


def test_two_models_of_one_shape_are_said_to_be_two(model: LoadedModel) -> None:
    made = build("CAUSAL_LM", "mistral", num_hidden_layers=3)
    other = av.from_transformers(made, tiny.tokenizer())
    words = "two models of one shape"
    alone, both = (compare(av.capture(model, A), av.capture(it, A)) for it in (model, other))
    assert alone.ranked
    assert both.ranked
    assert not any(words in said for said in alone.sentences)
    assert any(words in said for said in both.sentences)


def test_divergence_of_equal_and_of_disjoint_rows() -> None:
    rows = torch.tensor([[0.5, 0.5, 0.0], [1.0, 0.0, 0.0]])
    assert divergence(rows, rows).tolist() == [0, 0]
    apart = divergence(torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 1.0]]))
    assert apart.item() == pytest.approx(1)


def test_divergence_keeps_its_digits_where_rows_are_nearly_equal() -> None:
    torch.manual_seed(0)
    p = torch.rand(8, 300).softmax(-1)
    q = p * (1 + 1e-3 * torch.randn_like(p))
    expected = jensen_shannon(p[:, None].double(), q[:, None].double())
    np.testing.assert_allclose(divergence(p, q), expected, rtol=1e-3)


def test_texts_without_a_pair_have_no_numbers(model: LoadedModel) -> None:
    found = compare(av.capture(model, "the the"), av.capture(model, "cat"))
    assert found.rows.pairs == ()
    assert found.same_shape
    assert not found.ranked
    assert "heads are not ranked" in found.sentences[-1]
    assert found.changes().table["distance"].isna().all()
    assert np.isnan(found.difference((0, 0))).all()


def test_encoder_decoders_compare_group_by_group() -> None:
    pair = av.load_model("date-translator")
    a = av.capture(pair, source="3 March 2021", target="2021-03-03")
    b = av.capture(pair, source="3 April 2021", target="2021-04-03")
    found = compare(a, b, group="cross")
    assert found.rows is not found.cols
    assert found.difference((0, 0)).shape == (len(found.rows), len(found.cols))
    assert len(found.changes().table) == 4
    assert [told.split(":")[0] for told in found.sentences] == ["Queries", "Keys"]


def test_effective_maps_have_no_distance_and_no_softmax_partner(model: LoadedModel) -> None:
    config = transformers.MambaConfig(
        vocab_size=64, hidden_size=8, num_hidden_layers=2, state_size=4
    )
    mamba = tiny.build(config)
    a, b = (av.capture(mamba, text).effective for text in (A, B))
    assert a is not None
    assert b is not None
    found = compare(a, b)
    table = found.changes().table
    assert table["distance"].isna().all()
    assert table["moved"].is_monotonic_decreasing
    pairs = np.array(found.rows.pairs)
    line = table.iloc[0]
    p, q = (side.weights(int(line["layer"]), int(line["head"])) for side in (a, b))
    moved = np.abs(q[np.ix_(pairs[:, 1], pairs[:, 1])] - p[np.ix_(pairs[:, 0], pairs[:, 0])])
    assert line["moved"] == pytest.approx(moved.sum(1).mean() / 2, abs=1e-5)
    with pytest.raises(AttnvizError, match="not on one scale"):
        compare(a, av.capture(model, A))


@pytest.mark.models
def test_two_tokenizers_pair_by_letters(smollm2: LoadedModel, minilm: LoadedModel) -> None:
    text = "The cat sat on the mat."
    found = compare(av.capture(smollm2, text), av.capture(minilm, text))
    assert found.marks_ignored
    assert len(found.rows.pairs) == 7  # all but [CLS] and [SEP]
    assert any("by their letters" in told for told in found.sentences)


def test_divergence_of_sharp_rows_counts_what_is_almost_nothing() -> None:
    """Against scipy, which takes the root and knows no cancellation here."""
    rows = np.array([[0.5, 0.5], [0.1, 0.9], [1.0, 1e-9]])
    others = np.array([[1 - 1e-9, 1e-9], [1.0, 1e-12], [1e-8, 1.0]])
    expected = jensenshannon(rows, others, base=2, axis=1) ** 2
    found = divergence(torch.from_numpy(rows).float(), torch.from_numpy(others).float())
    np.testing.assert_allclose(found.numpy(), expected, atol=1e-6)

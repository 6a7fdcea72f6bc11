"""KV heads averaged: the cache shrinks as it must, the loss is the pooled model's own."""

import pytest
import torch

from attnviz.decoding import share
from attnviz.decoding.sharing import pooled
from attnviz.errors import AttnvizError
from tests.models.tiny import TEXT


def test_half_the_heads_are_half_the_bytes(full):
    found = share(full, TEXT, 1)
    assert found.kv_heads == (2, 1)
    assert found.cache_bytes == (3 * 2 * 2 * 8 * 13 * 4, 3 * 2 * 1 * 8 * 13 * 4)
    assert len(found.losses[0]) == len(found.losses[1]) == 12
    assert abs(found.loss[0] - found.loss[1]) > 1e-4


def test_the_loss_is_the_models_own(full):
    ids = torch.tensor(full.tokenizer(TEXT)["input_ids"])[None]
    with torch.no_grad():
        expected = float(full.model(ids, labels=ids).loss)
    assert share(full, TEXT, 1).loss[0] == pytest.approx(expected, abs=1e-5)


def test_pooling_nothing_changes_nothing(full):
    found = share(full, TEXT, 2)
    assert found.losses[0] == pytest.approx(found.losses[1], abs=1e-6)
    assert found.cache_bytes[0] == found.cache_bytes[1]


def test_pooled_projections_are_means_and_the_rest_is_shared(full):
    made = pooled(full, 1).model
    old, new = (m.model.layers[1].self_attn for m in (full.model, made))
    heads = old.k_proj.weight.reshape(2, 8, 32)
    assert torch.allclose(new.k_proj.weight, (heads[0] + heads[1]) / 2)
    assert new.q_proj.weight.data_ptr() == old.q_proj.weight.data_ptr()
    assert full.config.num_key_value_heads == 2


def test_heads_that_do_not_divide_are_refused(full):
    with pytest.raises(AttnvizError, match="do not share 2 query heads evenly"):
        share(full, TEXT, 3)

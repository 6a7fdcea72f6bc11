"""Where a stale cache is wrong: from the edit on with a causal mask, everywhere without."""

import numpy as np
import pytest
import torch

from attnviz.decoding import stale
from attnviz.errors import AttnvizError
from tests.models.tiny import TEXT

LAST = 12


@pytest.mark.parametrize("place", [1, 5, LAST])
def test_with_a_causal_mask_keys_differ_from_the_edit_on(full, place: int):
    found = stale(full, TEXT, place, "mat" if place != 5 else "ran")
    assert found.errors.shape == (3, LAST + 1)
    assert (found.errors[:, :place] == 0).all() or found.errors[:, :place].max() < 1e-6
    assert (found.errors[1:, place:] > 1e-4).all()
    # the first layer's keys come from the embeddings: only the edited one is wrong
    assert found.errors[0, place] > 1e-4
    assert found.errors[0, place + 1 :].max(initial=0) < 1e-6
    assert found.position == place


def test_the_last_token_moves_nothing_before_it(full):
    found = stale(full, TEXT, -1, "cat")
    assert found.errors[:, :LAST].max() == 0
    assert found.first_wrong == LAST
    assert found.kl < 1e-9  # the cache before it is right


def test_a_wrong_cache_changes_what_comes_next(full):
    assert stale(full, TEXT, 3, "mat").kl > 1e-4


def test_without_the_mask_every_key_differs(full):
    found = stale(full, TEXT, 5, "ran", causal=False)
    assert (found.errors[1:] > 1e-5).all()
    assert (np.flatnonzero(found.errors[0]) == [5]).all()
    assert stale(full, TEXT, -1, "cat", causal=False).first_wrong == 0


def test_the_keys_are_the_models_own(full):
    """By hand: one pass over each text, keys taken from the library's cache."""
    ids = full.tokenizer(TEXT)["input_ids"]
    edited = [*ids[:5], full.tokenizer("ran")["input_ids"][0], *ids[6:]]
    with torch.no_grad():
        old, new = (full.model(torch.tensor([x]), use_cache=True).cache for x in (ids, edited))
    a, b = old.layers[2].keys[0], new.layers[2].keys[0]
    by_hand = (a - b).norm(dim=(0, 2)) / b.norm(dim=(0, 2))
    assert np.allclose(stale(full, TEXT, 5, "ran").errors[2], by_hand.numpy(), atol=1e-6)


def test_what_is_not_there_is_refused(full):
    with pytest.raises(AttnvizError, match="tokens 0 to 12; there is no token 13"):
        stale(full, TEXT, 13)
    with pytest.raises(AttnvizError, match="replacement is empty"):
        stale(full, TEXT, 1, "")

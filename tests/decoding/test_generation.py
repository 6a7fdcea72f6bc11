"""With the cache and without: the same tokens, logits, maps; and the bytes a formula gives."""

import numpy as np
import pytest

from attnviz import kv_cache as kv
from attnviz.decoding import generate, two_passes
from attnviz.decoding.generation import rows_of_one_pass
from attnviz.errors import AttnvizError
from tests.models.tiny import TEXT

PROMPT = 13  # tokens of TEXT


@pytest.mark.parametrize("which", ["full", "windowed"])
def test_same_tokens_logits_and_map(which: str, request: pytest.FixtureRequest):
    model = request.getfixturevalue(which)
    seen = []
    made = generate(model, TEXT, 9, progress=lambda fraction, words, so_far: seen.append(so_far))
    assert [len(each.steps) for each in seen] == list(range(1, 10))
    assert all(step.same_token for step in made.steps)
    assert made.error < 1e-4
    assert made.error > 0 or which == "full"
    read = made.ids[:-1]
    assert len(read) == len(made.labels) == PROMPT + 8
    one = rows_of_one_pass(model, read)
    assert made.maps.shape == one.shape == (3, 4, PROMPT + 8, PROMPT + 8)
    assert np.abs(made.maps - one).max() < 1e-5
    assert np.abs(one.sum(-1) - 1).max() < 1e-5
    band = np.tri(PROMPT + 8) - np.tri(PROMPT + 8, k=-6)
    if which == "windowed":  # nothing beyond the window, at absolute positions
        assert (made.maps[:, :, band == 0] == 0).all()
        assert (made.maps[:, :, band == 1] > 0).all()


@pytest.mark.parametrize("which", ["full", "windowed"])
def test_bytes_after_each_step(which: str, request: pytest.FixtureRequest):
    model = request.getfixturevalue(which)
    spec = kv.CacheSpec.from_config(model.config)
    for place, step in enumerate(generate(model, TEXT, 4).steps):
        z = kv.size(spec, PROMPT + place, dtype="float32", accounting="transformers", decoded=place)
        assert (step.cache_bytes, step.held_bytes) == (z.total_bytes, z.held_bytes)


@pytest.mark.parametrize("which", ["full", "windowed"])
def test_in_parallel_as_in_training(which: str, request: pytest.FixtureRequest):
    passes = two_passes(request.getfixturevalue(which), TEXT)
    assert passes.same
    assert max(passes.errors) < 1e-4
    assert len(passes.errors) == len(passes.step_seconds) == PROMPT


def test_too_much_is_refused(full):
    with pytest.raises(AttnvizError, match="beyond the 256 that are followed"):
        generate(full, TEXT, 250)
    with pytest.raises(AttnvizError, match="new_tokens must be at least 1, not 0"):
        generate(full, TEXT, 0)

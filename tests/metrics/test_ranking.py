"""Which heads do this: equal to a ranking from full maps, for cells and for blocks."""

from __future__ import annotations

import numpy as np
import pytest

import attnviz as av
from attnviz.errors import AttnvizError
from attnviz.metrics.ranking import which_heads
from tests.models.made_up import made_up
from tests.models.tiny import TEXT, llama


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize(("queries", "keys"), [(211, 40), (slice(90, 130), slice(3, 64)), (5, 9)])
def test_equal_to_a_ranking_from_full_maps(
    causal: bool, queries: int | slice, keys: int | slice
) -> None:
    capture = made_up(300, causal=causal)
    full = {
        (layer.index, head): np.atleast_2d(capture.weights(layer.index, head)[queries, keys]).mean()
        for layer in capture.captured
        for head in range(layer.n_heads)
    }
    order = sorted(full, key=lambda place: (-full[place], place))
    found = which_heads(capture, queries, keys)
    assert list(zip(found["layer"], found["head"], strict=True)) == order
    np.testing.assert_allclose(found["weight"], [full[place] for place in order], atol=1e-6)


def test_shared_keys_and_what_is_not_there() -> None:
    capture = av.capture(llama(), TEXT)
    found = which_heads(capture, 9, 4)
    for _, row in found.iterrows():
        one = capture.weights(int(row["layer"]), int(row["head"]))[9, 4]
        assert row["weight"] == pytest.approx(one, abs=1e-6)
    with pytest.raises(AttnvizError, match="queries 0 to"):
        which_heads(capture, 99, 0)
    with pytest.raises(AttnvizError, match="block of keys"):
        which_heads(capture, 0, slice(4, 4))

"""Which heads do this: equal to a ranking from full maps, for cells and for blocks."""

from __future__ import annotations

import numpy as np
import pytest

import attnviz as av
from attnviz.errors import AttnvizError
from attnviz.metrics import ranking
from attnviz.metrics.ranking import which_heads
from tests.models.made_up import made_up
from tests.models.shrink import shrink
from tests.models.test_groups import SOURCE, TARGET, pair
from tests.models.tiny import TEXT, build, llama


def by_full_maps(maps, queries: int | slice, keys: int | slice, group: str | None = None):  # type: ignore[no-untyped-def]
    """((layer, head), mean weight) from whole maps, the largest first."""
    named = {} if group is None else {"group": group}
    part = maps if group is None else maps.of(group)
    full = {
        (layer.index, head): np.atleast_2d(
            maps.weights(layer.index, head, **named)[queries, keys]
        ).mean(dtype=np.float64)
        for layer in part.captured
        for head in range(layer.n_heads)
    }
    return sorted(full.items(), key=lambda item: (-abs(item[1]), item[0]))


def the_same(found, expected) -> None:  # type: ignore[no-untyped-def]
    places = list(zip(found["layer"], found["head"], strict=True))
    assert places == [place for place, _ in expected]
    np.testing.assert_allclose(found["weight"], [mean for _, mean in expected], atol=1e-6)


BLOCKS = [
    (211, 40),
    (slice(90, 130), slice(3, 64)),
    (slice(0, 300), slice(1, 300)),
    (slice(20, 90), slice(60, 61)),  # a column that the diagonal cuts
    (5, 9),
]


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize(("queries", "keys"), BLOCKS)
@pytest.mark.parametrize("cells", [ranking.CELLS, 1000])
def test_equal_to_a_ranking_from_full_maps(
    causal: bool,
    queries: int | slice,
    keys: int | slice,
    cells: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ranking, "CELLS", cells)
    capture = made_up(300, causal=causal)
    the_same(which_heads(capture, queries, keys), by_full_maps(capture, queries, keys))


def test_forbidden_cells_count_as_nothing() -> None:
    capture = made_up(40)
    assert (which_heads(capture, 5, slice(6, 30))["weight"] == 0).all()
    half = which_heads(capture, slice(0, 2), slice(0, 2)).set_index(["layer", "head"])["weight"]
    for (layer, head), mean in half.items():  # type: ignore[misc]
        assert mean == pytest.approx((1 + 1) / 4, abs=1e-6), (layer, head)  # two rows, four cells


def test_shared_keys_windows_whole_maps_and_what_is_not_there() -> None:
    for model in (llama(), build(shrink("mistral", sliding_window=4)), build(shrink("falcon"))):
        capture = av.capture(model, TEXT)
        for queries, keys in ((9, 4), (slice(3, 11), slice(2, 9))):
            the_same(which_heads(capture, queries, keys), by_full_maps(capture, queries, keys))
    with pytest.raises(AttnvizError, match="queries 0 to"):
        which_heads(capture, 99, 0)
    with pytest.raises(AttnvizError, match="block of keys"):
        which_heads(capture, 0, slice(4, 4))


def test_keys_of_another_text() -> None:
    capture = av.capture(pair("t5"), source=SOURCE, target=TARGET)
    for queries, keys in ((2, 4), (slice(0, 2), slice(3, 6))):
        found = which_heads(capture, queries, keys, group="cross")
        the_same(found, by_full_maps(capture, queries, keys, "cross"))
    with pytest.raises(AttnvizError, match="queries 0 to"):
        which_heads(capture, capture.of("cross").n_tokens, 0, group="cross")


def test_signed_maps_are_ranked_by_size() -> None:
    maps = av.capture(build(shrink("mamba")), TEXT).effective
    assert maps is not None
    for queries, keys in ((9, 4), (slice(3, 11), slice(2, 9))):
        found = which_heads(maps, queries, keys)
        assert found["weight"].min() < 0
        assert len(found) == sum(layer.n_heads for layer in maps.captured)
        the_same(found, by_full_maps(maps, queries, keys))

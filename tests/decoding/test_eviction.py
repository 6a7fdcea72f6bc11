"""Each policy drops what it says, and nothing dropped changes nothing."""

import numpy as np
import pytest
import torch

from attnviz.decoding import Policy, evict
from attnviz.errors import AttnvizError
from tests.models.tiny import TEXT

T = 13


def test_an_unlimited_budget_is_the_full_cache(full):
    found = evict(full, TEXT, Policy(recent=100))
    assert set(found.kl) == {0.0}
    assert all(found.same)
    assert found.bytes == found.full_bytes
    assert (found.held == np.tri(T, dtype=bool)).all()
    assert found.dropped(0, 0) == ()


def test_a_window_keeps_the_last_tokens(full):
    found = evict(full, TEXT, Policy(recent=4))
    band = np.tri(T, dtype=bool) & ~np.tri(T, k=-5, dtype=bool)  # 4 kept, and the query's own
    assert (found.held == band).all()
    assert found.dropped(1, 1) == tuple(range(8))
    assert found.kl[4] == 0.0  # nothing was missing yet
    assert max(found.kl) > 1e-4
    a_token = found.full_bytes[0]
    assert found.bytes == tuple(a_token * min(n, 4) for n in range(1, T + 1))


def test_sinks_stay(full):
    found = evict(full, TEXT, Policy(recent=3, sinks=2))
    assert found.held[:, :, :, :2].sum() == found.held.shape[0] * 2 * (2 * T - 1)
    assert found.dropped(2, 0) == tuple(range(2, 9))


def test_heavy_hitters_are_those_that_received_most(full):
    found = evict(full, TEXT, Policy(recent=2, heavy=3))
    assert found.bytes[-1] == 5 * found.full_bytes[0]
    assert (found.held[:, :, -1].sum(-1) == 6).all()
    # unlike a window, heads keep different tokens
    assert len({row.tobytes() for row in found.held[:, :, -1].reshape(-1, T)}) > 1


def test_the_heaviest_by_hand():
    positions = torch.arange(6).expand(2, 6)
    received = torch.tensor([[0.1, 0.9, 0.2, 0.8, 0.0, 0.0], [0.7, 0.1, 0.6, 0.2, 0.0, 0.0]])
    kept = Policy(recent=2, heavy=2).keep(positions, received)
    assert kept.tolist() == [[1, 3, 4, 5], [0, 2, 4, 5]]
    assert Policy(recent=1, sinks=1, heavy=1).keep(positions, received).tolist() == [
        [0, 1, 5],
        [0, 2, 5],
    ]


def test_until_the_budget_is_full_nothing_is_lost(full):
    found = evict(full, TEXT, Policy(recent=2, heavy=4))
    assert max(found.kl[:6]) == 0.0
    assert max(found.kl[6:]) > 0.0


def test_windows_of_its_own_are_refused(windowed):
    with pytest.raises(AttnvizError, match="forgets already"):
        evict(windowed, TEXT, Policy(recent=4))
    with pytest.raises(AttnvizError, match=r"recent .* must be at least 1, not 0"):
        Policy(recent=0)

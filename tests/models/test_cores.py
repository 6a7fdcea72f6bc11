"""Shares of work on cores of their own."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

from attnviz.models import cores
from attnviz.models.layer import Layer
from attnviz.models.layers import LayerRecord
from attnviz.models.mask_rule import MaskRule
from attnviz.models.stream import stream


@pytest.fixture
def two_cores(monkeypatch):
    """As on a machine with two, whatever OMP_NUM_THREADS says here."""
    monkeypatch.setattr(cores, "available", lambda: 2)


def test_each_share_runs_alone_on_its_core_and_without_gradients():
    meeting = threading.Barrier(3)  # all three at once, or it breaks

    def share(place):
        meeting.wait(10)
        return place, torch.get_num_threads(), torch.is_grad_enabled()

    assert cores.on_each(share, 3) == [(0, 1, False), (1, 1, False), (2, 1, False)]


def test_other_threads_keep_all_cores():
    before = torch.get_num_threads()
    cores.on_each(lambda place: place, 4)
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(torch.get_num_threads).result() == before
    assert torch.get_num_threads() == before


def test_an_error_of_a_share_is_raised_when_all_have_ended():
    first_failed, ended = threading.Event(), []

    def share(place):
        if place == 0:
            first_failed.set()
            raise ValueError("share 0")
        first_failed.wait(10)
        ended.append(place)

    with pytest.raises(ValueError, match="share 0"):
        cores.on_each(share, 2)
    assert ended == [1]


@pytest.mark.parametrize("causal", [True, False])
def test_a_streamed_layer_is_the_same_on_two_cores(two_cores, causal):
    """Against the softmax of the whole, rows dealt out over two threads."""
    draw = torch.Generator().manual_seed(0)
    q, k, v = (torch.randn(n, 1100, 16, generator=draw) for n in (4, 2, 2))
    layer = Layer(index=0, kind="full", mixer="", n_heads=4, n_kv_heads=2)
    record = LayerRecord(layer=layer, queries=q, keys=k, scale=0.25, rule=MaskRule(causal=causal))
    done = stream(record, 8, v)
    scores = q @ k.repeat_interleave(2, 0).transpose(1, 2) * 0.25
    if causal:
        scores = scores.masked_fill(torch.ones(1100, 1100).triu(1) > 0, -torch.inf)
    weights = scores.double().softmax(-1)
    torch.testing.assert_close(
        done.output, (weights @ v.double().repeat_interleave(2, 0)).float(), atol=1e-5, rtol=0
    )
    cell = torch.arange(1100) * 8 // 1100
    sums = torch.stack([weights[:, cell == row].mean(1) for row in range(8)], 1)
    pooled = torch.stack([sums[..., cell == col].mean(-1) for col in range(8)], -1)
    torch.testing.assert_close(done.overview.double(), pooled, atol=1e-7, rtol=1e-5)
    entropy = torch.special.entr(weights).sum(-1).mean(1)
    torch.testing.assert_close(done.metrics[:, 0].double(), entropy, atol=1e-5, rtol=0)

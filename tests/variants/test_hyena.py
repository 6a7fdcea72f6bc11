"""Hyena against numpy's convolution, its own fast form, and what it makes of the identity."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.nn import functional as F

import attnviz as av
from attnviz import masks
from attnviz.variants.hyena import GATES, operator_map, short_convolution
from tests.variants.cases import answering, asking, largest_difference

TOLERANCE = {"float32": 1e-5, "float64": 1e-12}


def by_numpy(trace: av.Trace) -> np.ndarray:
    """x1 * (h conv (x2 * v)), channel by channel and example by example, before W_o."""
    x1, x2, v, h = (
        trace[word].tensor.double().numpy() for word in ("gate_out", "gate_in", "value", "filter")
    )
    out = np.zeros_like(v)
    for b in range(v.shape[0]):
        for c in range(v.shape[2]):
            out[b, :, c] = np.convolve(h[c], x2[b, :, c] * v[b, :, c])[: v.shape[1]]
    return x1 * out


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("kernel", ["reference", "fft"])
def test_it_is_numpys_convolution(kernel: str, dtype: str) -> None:
    trace = av.run("hyena", asking(dtype), kernel=kernel, seed=3)
    expected = torch.from_numpy(by_numpy(trace))
    assert largest_difference(trace["mixed"].tensor.double(), expected) < 10 * TOLERANCE[dtype]
    output = trace["mixed"].tensor @ trace.parameters["W_o"]
    assert largest_difference(trace.output, output) < TOLERANCE[dtype]


@pytest.mark.parametrize("length", [1, 2, 33])
def test_the_end_does_not_wrap_around(length: int) -> None:
    x = av.Inputs(av.random_inputs(length, 6, seed=2).embeddings.double())
    slow, fast = (av.run("hyena", x, kernel=kernel) for kernel in ("reference", "fft"))
    assert largest_difference(slow.output, fast.output) < 1e-12


def test_the_map_is_what_the_operator_makes_of_the_identity() -> None:
    """Value = each unit vector in turn; the columns are the answers (the FFT form, not the map)."""
    trace = av.run("hyena", asking("float64"))
    x1, x2, h = (trace[word].tensor for word in ("gate_out", "gate_in", "filter"))
    columns = []
    for j in range(7):
        once = torch.zeros_like(x2)
        once[:, j] = x2[:, j]
        spectrum = torch.fft.rfft(once.mT, 14) * torch.fft.rfft(h, 14)
        columns.append(x1.mT * torch.fft.irfft(spectrum, 14)[..., :7])
    assert trace.weights.shape == (2, 24, 7, 7)
    assert largest_difference(trace.weights, torch.stack(columns, dim=-1)) < 1e-12
    assert bool((trace.weights.triu(1) == 0).all())
    assert trace.weights_kind == "effective"
    assert largest_difference(trace.weights, operator_map(x1, h, x2)) == 0


@pytest.mark.parametrize("word", [word for word, _ in GATES])
def test_short_convolutions_look_back(word: str) -> None:
    trace = av.run("hyena", asking("float64"))
    W, x = trace.parameters, trace["inputs"].tensor
    projected, taps = x @ W[f"W_{word}"], W[f"short_{word}"]
    expected = torch.zeros_like(projected)
    for back in range(3):
        expected[:, back:] += projected[:, : 7 - back] * taps[:, 2 - back]
    assert largest_difference(trace[word].tensor, expected) < 1e-12
    assert largest_difference(short_convolution(projected, taps), expected) < 1e-12


def test_the_filter_is_the_papers_window_times_a_network() -> None:
    trace = av.run("hyena", av.random_inputs(9, 6), dtype="float64")
    W, h = trace.parameters, trace["filter"].tensor
    for d in range(9):
        bands = [2.0**n for n in (1, 2, 3, 4)]
        angles = torch.tensor([d / n * torch.pi for n in bands], dtype=torch.float64)
        answer = torch.sin(torch.cat([angles.cos(), angles.sin()]) @ W["filter_in"])
        expected = F.linear(answer, W["filter_out"].T) * torch.exp(-W["fading"] * d)
        if d == 0:
            expected = expected + W["skip"]
        assert largest_difference(h[:, d], expected) < 1e-12


def test_what_it_has_not() -> None:
    with pytest.raises(av.AttnvizError, match=r"causal by itself.*'sliding window 2'"):
        av.run("hyena", asking(), mask=masks.sliding_window(2))
    with pytest.raises(av.AttnvizError, match="has no cross-attention"):
        av.run("hyena", asking(), context=answering())
    with pytest.raises(av.AttnvizError, match="Hyena has none"):
        av.run("hyena", av.random_inputs(4, 8, positions="rotary"))
    with pytest.raises(av.AttnvizError, match="kernel must be 'reference' or 'fft'"):
        av.run("hyena", asking(), kernel="sdpa")

"""Linformer against equation 7 through torch's own attention, and its map P F."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F

import attnviz as av
from attnviz import masks
from attnviz.variants.linformer import LONGEST
from tests.variants.cases import TOLERANCE, answering, asking, largest_difference

PADDING = {7: masks.padding([7, 4]), 5: masks.padding([5, 2])}


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("context", [False, True], ids=["self", "cross"])
def test_equation_7_and_its_map(context: bool, padded: bool, dtype: str) -> None:
    x, other = asking(dtype), answering(dtype) if context else None
    n_keys = 5 if context else 7
    mask = PADDING[n_keys] if padded else None
    trace = av.run("linformer", x, context=other, mask=mask, n_heads=3, places=2)
    E, F_ = (trace.parameters[word][:, :n_keys] for word in ("E", "F"))
    query, key, value = (trace[f"{word}_heads"].tensor for word in ("query", "key", "value"))
    if padded:
        real = mask.allowed(1, n_keys).mT  # (B, 1, T_k, 1): padding is not mixed in
        key, value = key * real, value * real
    pressed = (torch.einsum("kn,bhnd->bhkd", matrix, x) for matrix, x in ((E, key), (F_, value)))
    expected = F.scaled_dot_product_attention(query, *pressed)
    bound = 5 * TOLERANCE[dtype]
    assert largest_difference(trace["heads"].tensor, expected) < bound
    full_value = trace["value_heads"].tensor
    assert largest_difference(trace.weights @ full_value, expected) < bound
    assert trace.weights_kind == "effective"
    fused = av.run("linformer", x, context=other, mask=mask, n_heads=3, places=2, kernel="sdpa")
    assert largest_difference(fused.output, trace.output) < bound


def test_a_shorter_sequence_takes_the_first_columns() -> None:
    """So the first tokens are pressed the same way whatever comes after them."""
    x = asking("float64")
    whole, part = (av.run("linformer", av.Inputs(x.embeddings[:, :n])) for n in (7, 3))
    assert whole.parameters["E"].shape == (4, LONGEST)
    first = whole.parameters["E"][:, :3] @ whole["key_heads"].tensor[:, :, :3]
    assert largest_difference(first, part["key_pressed"].tensor) < 1e-12


@pytest.mark.parametrize("mask", [masks.causal(), masks.sliding_window(2)], ids=str)
def test_it_cannot_hide_a_key_from_some_queries(mask: masks.Mask) -> None:
    with pytest.raises(av.AttnvizError, match="mixes all keys before any query looks"):
        av.run("linformer", asking(), mask=mask)


def test_the_future_is_in_every_mixture() -> None:
    trace = av.run("linformer", asking("float64"))
    assert float(trace.weights.triu(1).abs().sum() / trace.weights.abs().sum()) > 0.2


def test_too_long_a_sequence_is_told() -> None:
    long = av.Inputs(torch.zeros(1, LONGEST + 1, 4))
    with pytest.raises(av.AttnvizError, match="4,096 tokens here; received 4,097"):
        av.run("linformer", long, n_heads=1, kernel="sdpa")

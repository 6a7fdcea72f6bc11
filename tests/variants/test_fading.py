"""Retention and lightning against dense decay matrices and MiniMax's layer before its norm."""

from __future__ import annotations

import pytest
import torch
from transformers import MiniMaxConfig
from transformers.models.minimax.modeling_minimax import MiniMaxLightningAttention

import attnviz as av
from tests.variants.cases import largest_difference, relative_difference
from tests.variants.recurrent_cases import D_MODEL, EXACT, HEADS, LENGTH, inputs

DISTANCE = torch.arange(LENGTH)[:, None] - torch.arange(LENGTH)


@pytest.mark.parametrize("dtype", EXACT)
def test_retention_is_the_papers_parallel_form(dtype: str) -> None:
    """(Q K^T * D) V with D[n, m] = gamma^(n - m), equation 5, keys scaled as in its code."""
    trace = av.run("retention", inputs(dtype), n_heads=HEADS)
    query, key, value = (trace[f"{word}_heads"].tensor for word in ("query", "key", "value"))
    gamma = torch.tensor([31 / 32, 63 / 64, 127 / 128], dtype=torch.float64)
    D = (gamma[:, None, None] ** DISTANCE.clamp(min=0)).tril().to(query)
    output = (query @ (key / 8**0.5).mT * D) @ value
    assert relative_difference(trace["heads"].tensor, output) < EXACT[dtype]


@pytest.mark.parametrize("dtype", EXACT)
@pytest.mark.parametrize("layer", [1, 3])
def test_lightning_is_minimaxs_before_its_norm(layer: int, dtype: str) -> None:
    x = inputs(dtype)
    trace = av.run("lightning", x, n_heads=HEADS, layer=layer, n_layers=4)
    config = MiniMaxConfig(
        hidden_size=D_MODEL,
        num_attention_heads=HEADS,
        num_key_value_heads=HEADS,
        head_dim=8,
        num_hidden_layers=4,
        block_size=32,
    )
    module = MiniMaxLightningAttention(config, layer - 1).to(x.embeddings.dtype)
    W = trace.parameters
    per_head = [W[name].unflatten(1, (HEADS, 8)) for name in ("W_q", "W_k", "W_v")]
    module.qkv_proj.weight.data = torch.cat(per_head, dim=2).flatten(1).T.contiguous()
    seen = []
    module.norm.register_forward_pre_hook(lambda _, given: seen.append(given[0]))
    with torch.no_grad():
        _, state = module(x.embeddings, None, None)
    assert trace.state is not None
    # MiniMax keeps its slopes in float32, whatever the dtype.
    close = 2e-5 if dtype == "float32" else 1e-6
    assert relative_difference(trace["concatenated"].tensor, seen[0]) < close
    assert relative_difference(trace.state, state) < close


def test_lightning_in_float64_is_the_dense_form() -> None:
    trace = av.run("lightning", inputs(), n_heads=HEADS, layer=2, n_layers=4)
    query, key, value = (
        torch.nn.functional.silu(trace[f"{word}_heads"].tensor)
        for word in ("query", "key", "value")
    )
    slope = 2.0 ** (-8 * torch.arange(1.0, 4.0, dtype=torch.float64) / 3)
    slope = slope * (1 - 1 / (3 + 1e-5) + 1e-5)
    D = torch.exp(-slope[:, None, None] * DISTANCE.clamp(min=0)).tril()
    assert largest_difference(trace["heads"].tensor, (query @ key.mT * D) @ value) < 1e-10


def test_a_layer_beyond_the_last_is_told() -> None:
    with pytest.raises(av.AttnvizError, match="layer must be at most n_layers = 2; received 3"):
        av.run("lightning", inputs(), layer=3, n_layers=2)

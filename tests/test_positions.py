"""Positions against the closed form of the paper and against transformers' Llama."""

from __future__ import annotations

import math

import pytest
import torch
from transformers import LlamaConfig
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding, apply_rotary_pos_emb

from attnviz.errors import AttnvizError
from attnviz.positions import apply_rotary, rotary_tables, sinusoidal


def test_sinusoids_are_the_papers() -> None:
    """Vaswani et al. 2017, section 3.5, written out a number at a time."""
    table = sinusoidal(50, 6)
    for position in range(50):
        for i in range(3):
            angle = position / 10000 ** (2 * i / 6)
            assert float(table[position, 2 * i]) == pytest.approx(math.sin(angle), abs=1e-12)
            assert float(table[position, 2 * i + 1]) == pytest.approx(math.cos(angle), abs=1e-12)


@pytest.mark.parametrize("head_dim", [2, 8, 64])
def test_rotary_is_llamas(head_dim: int) -> None:
    config = LlamaConfig(hidden_size=head_dim * 2, num_attention_heads=2, head_dim=head_dim)
    torch.manual_seed(0)
    query, key = torch.randn(2, 2, 1, 2, 40, head_dim).unbind(0)
    query, key = query[0], key[0]
    cos, sin = LlamaRotaryEmbedding(config)(query, torch.arange(40)[None])
    expected = apply_rotary_pos_emb(query, key, cos, sin)
    for ours, theirs in zip((apply_rotary(query), apply_rotary(key)), expected, strict=True):
        # transformers computes its angles in float32.
        assert float((ours - theirs).abs().max()) < 2e-5
    assert torch.allclose(rotary_tables(40, head_dim)[0].float(), cos[0], atol=5e-6)


def test_rotary_scores_depend_on_distance_only() -> None:
    torch.manual_seed(0)
    q, k = torch.randn(2, 8, dtype=torch.float64)
    scores = apply_rotary(q.expand(30, 8)) @ apply_rotary(k.expand(30, 8)).T
    for distance in (0, 1, 7):
        along = scores.diagonal(-distance)
        assert torch.allclose(along, along[:1].expand_as(along), atol=1e-12)
    assert not math.isclose(float(scores[0, 0]), float(scores[7, 0]), abs_tol=1e-3)


def test_rotary_keeps_lengths_and_position_zero() -> None:
    torch.manual_seed(0)
    x = torch.randn(2, 3, 9, 4, dtype=torch.float64)
    turned = apply_rotary(x)
    assert torch.allclose(turned.norm(dim=-1), x.norm(dim=-1), atol=1e-12)
    assert torch.equal(turned[..., 0, :], x[..., 0, :])
    assert apply_rotary(x.float()).dtype == torch.float32


@pytest.mark.parametrize("size", [0, 1, 7])
def test_odd_sizes_are_refused(size: int) -> None:
    with pytest.raises(AttnvizError, match=f"d_model must be even; received {size}"):
        sinusoidal(3, size)
    with pytest.raises(AttnvizError, match=f"head_dim must be even; received {size}"):
        rotary_tables(3, size)

"""Each convention, really passed to the function that reads it."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from attnviz import masks
from attnviz.errors import AttnvizError

B, H, T, D = 2, 3, 6, 4
MASKS = {
    "causal": masks.causal(),
    "window": masks.causal() & masks.sliding_window(3),
    "prefix": masks.causal() | masks.prefix(2),
    "padding": masks.padding([4, 6]),
    "padded causal": masks.causal() & masks.padding([4, 6]),
    "per head": masks.causal()
    & masks.from_tensor(
        torch.eye(6).bool() | (torch.rand(1, 3, 6, 6, generator=torch.manual_seed(5)) > 0.4)
    ),
}


@pytest.fixture(params=list(MASKS))
def allowed(request) -> torch.Tensor:
    return masks.as_allowed(MASKS[request.param], B, H, T, T)


def qkv() -> torch.Tensor:
    return torch.randn(3, B, H, T, D, generator=torch.manual_seed(0), dtype=torch.float64)


def plain(q, k, v, allowed) -> torch.Tensor:
    """Attention with a mask, one query at a time over the keys it may see: no convention at all."""
    allowed = allowed.expand(B, H, T, T)
    out = torch.zeros_like(v)
    for b in range(B):
        for h in range(H):
            for i in range(T):
                seen = allowed[b, h, i]
                weights = (k[b, h, seen] @ q[b, h, i] / D**0.5).softmax(-1)
                out[b, h, i] = weights @ v[b, h, seen]
    return out


def test_sdpa_takes_the_boolean_and_the_additive_form(allowed):
    q, k, v = qkv()
    expected = plain(q, k, v, allowed)
    for mask in (masks.to_sdpa(allowed), masks.to_additive(allowed, torch.float64)):
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        assert torch.allclose(out, expected, atol=1e-12)


def test_the_finite_form_gives_the_same_weights(allowed):
    q, k, v = qkv()
    scores = q @ k.mT / D**0.5 + masks.to_finite_additive(allowed, torch.float64)
    assert torch.allclose(scores.softmax(-1) @ v, plain(q, k, v, allowed), atol=1e-12)


def test_zero_one_multiplies_the_exponentials(allowed):
    q, k, v = qkv()
    kept = (q @ k.mT / D**0.5).exp() * masks.to_zero_one(allowed, torch.float64)
    out = kept / kept.sum(-1, keepdim=True) @ v
    assert torch.allclose(out, plain(q, k, v, allowed), atol=1e-12)


def multihead() -> nn.MultiheadAttention:
    """nn.MultiheadAttention whose projections change nothing."""
    module = nn.MultiheadAttention(H * D, H, bias=False, batch_first=True).double().eval()
    with torch.no_grad():
        module.in_proj_weight.copy_(torch.eye(H * D).repeat(3, 1))
        module.out_proj.weight.copy_(torch.eye(H * D))
    return module


def joined(heads: torch.Tensor) -> torch.Tensor:
    return heads.transpose(1, 2).reshape(B, T, H * D)


@pytest.mark.parametrize("need_weights", [True, False])
def test_multihead_attention_takes_true_as_blocked(allowed, need_weights):
    q, k, v = qkv()
    mask = masks.to_multihead(allowed, B, H)
    out, _ = multihead()(joined(q), joined(k), joined(v), attn_mask=mask, need_weights=need_weights)
    assert torch.allclose(out, joined(plain(q, k, v, allowed)), atol=1e-12)
    assert masks.from_multihead(mask, B, H).expand(B, H, T, T).equal(allowed.expand(B, H, T, T))


def test_multihead_attention_takes_the_additive_form_too(allowed):
    q, k, v = qkv()
    blocked = masks.to_multihead(allowed, B, H)
    mask = torch.zeros(blocked.shape, dtype=torch.float64).masked_fill(blocked, -torch.inf)
    out, _ = multihead()(joined(q), joined(k), joined(v), attn_mask=mask, need_weights=False)
    assert torch.allclose(out, joined(plain(q, k, v, allowed)), atol=1e-12)
    assert masks.from_multihead(mask, B, H).expand(B, H, T, T).equal(allowed.expand(B, H, T, T))


def test_the_wrong_polarity_is_another_computation(allowed):
    q, k, v = qkv()
    out, _ = multihead()(
        joined(q), joined(k), joined(v), attn_mask=~masks.to_multihead(allowed, B, H)
    )
    assert not torch.allclose(out, joined(plain(q, k, v, allowed)), atol=1e-3)


def test_multihead_attention_takes_a_key_padding_mask():
    q, k, v = qkv()
    allowed = masks.as_allowed(masks.padding([4, 6]), B, H, T, T)
    mask = masks.to_key_padding(allowed)
    assert mask.tolist() == [[False] * 4 + [True] * 2, [False] * 6]
    out, _ = multihead()(joined(q), joined(k), joined(v), key_padding_mask=mask)
    assert torch.allclose(out, joined(plain(q, k, v, allowed)), atol=1e-12)
    assert masks.from_key_padding(mask).expand(B, 1, T, T).equal(allowed)


def test_a_mask_that_differs_between_queries_is_no_key_padding_mask():
    with pytest.raises(AttnvizError, match="this mask differs between them"):
        masks.to_key_padding(masks.causal().allowed(4, 4))


def test_there_and_back(allowed):
    assert masks.from_sdpa(masks.to_sdpa(allowed)).equal(allowed)
    assert masks.from_sdpa(masks.to_additive(allowed)).equal(allowed)
    assert masks.from_zero_one(masks.to_zero_one(allowed)).equal(allowed)
    for dtype in (torch.float64, torch.float32, torch.bfloat16, torch.float16):
        assert masks.from_additive(masks.to_additive(allowed, dtype)).equal(allowed)
        assert masks.from_additive(masks.to_finite_additive(allowed, dtype)).equal(allowed)


@pytest.mark.parametrize(
    ("convert", "sentence"),
    [
        (lambda: masks.from_zero_one(torch.tensor([[0.0, 0.5]])), "only 0 and 1; received 0.5"),
        (lambda: masks.from_additive(torch.tensor([[0.0, -2.5]])), "a bias|received -2.5"),
        (lambda: masks.from_additive(torch.tensor([[0, 1]])), "floating-point 0 and -inf"),
        (
            lambda: masks.from_key_padding(torch.zeros(2, 3)),
            "True for blocked; received torch.float32",
        ),
        (
            lambda: masks.from_multihead(torch.zeros(5, 3, 3).bool(), 2, 3),
            r"\(6, queries, keys\) for 2 examples and 3 heads; received shape \(5, 3, 3\)",
        ),
        (
            lambda: masks.to_multihead(masks.padding([1, 2]).allowed(3, 3), 3, 4),
            r"3 examples and 4 heads, or one for all; received shape \(2, 1, 3, 3\)",
        ),
    ],
)
def test_what_is_no_mask_is_refused_in_a_sentence(convert, sentence):
    with pytest.raises(AttnvizError, match=sentence):
        convert()

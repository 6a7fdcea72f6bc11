"""Bias, soft cap and sinks against transformers' models that have them."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch
from torch import nn
from transformers.models.bloom.modeling_bloom import build_alibi_tensor
from transformers.models.gemma2 import modeling_gemma2
from transformers.models.gpt_oss import modeling_gpt_oss
from transformers.models.mpt.modeling_mpt import build_mpt_alibi_tensor

import attnviz as av
from attnviz import masks
from attnviz.variants.scores import SCORE_OPTIONS, alibi, alibi_slopes
from tests.variants.cases import BATCH, QUERIES, TOLERANCE, answering, asking, largest_difference

HEADS = 4
MASKS = [masks.causal(), masks.causal() & masks.sliding_window(3), masks.bidirectional()]
SOFTMAX = ("scaled_dot_product", "multi_head", "grouped_query")


def heads(trace: av.Trace) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Queries (B, H, T, d), keys and values (B, G, T, d)."""
    return tuple(trace[f"{word}_heads"].tensor for word in ("query", "key", "value"))


def theirs(attention, trace: av.Trace, mask: masks.Mask, **options):
    """(weights, heads) of transformers' eager attention on the queries, keys, values of a trace."""
    groups = trace["key_heads"].tensor.shape[1]
    module = SimpleNamespace(
        num_key_value_groups=HEADS // groups, training=False, sinks=options.pop("sinks", None)
    )
    added = masks.to_additive(mask.allowed(QUERIES, QUERIES), trace.output.dtype)
    added = added + options.pop("bias", 0)
    output, weights = attention(module, *heads(trace), added, scaling=6**-0.5, **options)
    return weights, output.transpose(1, 2)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("mask", MASKS, ids=str)
@pytest.mark.parametrize("name", ["multi_head", "grouped_query"])
@pytest.mark.parametrize("sink", ["off_by_one", "learned"])
def test_sinks_are_those_of_gpt_oss(sink: str, name: str, mask: masks.Mask, dtype: str) -> None:
    trace = av.run(name, asking(dtype), n_heads=HEADS, mask=mask, sink=sink)
    sinks = trace.parameters["sinks"]
    assert (sink == "learned") == bool(sinks.any())
    expected = theirs(modeling_gpt_oss.eager_attention_forward, trace, mask, sinks=sinks)
    assert largest_difference(trace.weights, expected[0]) < TOLERANCE[dtype]
    assert largest_difference(trace["heads"].tensor, expected[1]) < 3 * TOLERANCE[dtype]
    whole = trace.weights.sum(-1) + trace["sink_weights"].tensor
    assert largest_difference(whole, torch.ones_like(whole)) < 2 * TOLERANCE[dtype]


def test_off_by_one_is_torchs_added_zero() -> None:
    trace = av.run("multi_head", asking("float64"), n_heads=HEADS, sink="off_by_one")
    W = trace.parameters
    module = nn.MultiheadAttention(
        24, HEADS, bias=False, batch_first=True, add_zero_attn=True, dtype=torch.float64
    )
    with torch.no_grad():
        module.in_proj_weight.copy_(torch.cat([W["W_q"], W["W_k"], W["W_v"]], dim=1).T)
        module.out_proj.weight.copy_(W["W_o"].T)
        x = trace["inputs"].tensor
        output, weights = module(x, x, x, average_attn_weights=False)
    assert largest_difference(trace.output, output) < 1e-12
    assert largest_difference(trace.weights, weights[..., :-1]) < 1e-12


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("mask", MASKS, ids=str)
@pytest.mark.parametrize("name", ["multi_head", "grouped_query"])
def test_soft_cap_is_that_of_gemma2(name: str, mask: masks.Mask, dtype: str) -> None:
    x = asking(dtype)
    loud = av.Inputs(4 * x.embeddings)  # scores well beyond the cap
    trace = av.run(name, loud, n_heads=HEADS, mask=mask, softcap=5)
    assert float(trace["scaled"].tensor.abs().max()) > 5
    assert float(trace["capped"].tensor.abs().max()) <= 5
    expected = theirs(modeling_gemma2.eager_attention_forward, trace, mask, softcap=5.0)
    weights, output = expected
    bound = 1e-6  # its softmax runs in float32 whatever the dtype
    assert largest_difference(trace.weights, weights) < bound
    assert largest_difference(trace["heads"].tensor, output) < 30 * bound


def test_a_cap_never_lets_a_hidden_key_through() -> None:
    """A mask before the cap would: tanh(-inf) is -1, and e^-5 is not 0."""
    trace = av.run("multi_head", asking(), mask=masks.causal(), softcap=5)
    assert bool((trace.weights.triu(1) == 0).all())


@pytest.mark.parametrize("n_heads", [1, 2, 3, 4, 6, 8, 12, 20])
def test_slopes_are_those_of_bloom_and_mpt(n_heads: int) -> None:
    """They add m j; the difference to -m (i - j) is the same along a row."""
    length = 9
    ours = alibi(alibi_slopes(n_heads), length, length)
    bloom = build_alibi_tensor(torch.ones(1, length), n_heads, torch.float64)
    mpt = build_mpt_alibi_tensor(n_heads, length).double()
    seen = masks.causal().allowed(length, length)[0, 0]
    for other in (bloom, mpt):
        shifted = ours - other
        shifted = shifted - shifted[..., :1]
        assert float(shifted[:, seen].abs().max()) < 1e-6
    assert largest_difference(ours, ours.mT) == 0


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("name", ["multi_head", "grouped_query"])
def test_alibi_is_blooms_bias_before_a_causal_softmax(name: str, dtype: str) -> None:
    trace = av.run(name, asking(dtype), n_heads=HEADS, mask=masks.causal(), bias="alibi")
    bias = build_alibi_tensor(torch.ones(BATCH, QUERIES), HEADS, torch.float64)
    bias = bias.view(BATCH, HEADS, 1, QUERIES).to(trace.output.dtype)
    expected = theirs(
        modeling_gemma2.eager_attention_forward, trace, masks.causal(), bias=bias, softcap=None
    )
    assert largest_difference(trace.weights, expected[0]) < 1e-6
    assert largest_difference(trace["heads"].tensor, expected[1]) < 1e-5


def test_all_three_in_their_order() -> None:
    options = {"bias": "alibi", "softcap": "5", "sink": "learned"}
    trace = av.run("multi_head", asking("float64"), mask=masks.causal(), n_heads=HEADS, **options)
    names = trace.names
    assert names[names.index("scores") : names.index("heads")] == (
        "scores", "scaled", "biased", "capped", "masked", "sink_weights", "weights",
    )  # fmt: skip
    biased = trace["scaled"].tensor + alibi(alibi_slopes(HEADS), QUERIES, QUERIES)
    masked = (5 * torch.tanh(biased / 5)).masked_fill(
        ~masks.causal().allowed(QUERIES, QUERIES), -torch.inf
    )
    sinks = trace.parameters["sinks"].view(1, HEADS, 1, 1).expand(BATCH, -1, QUERIES, 1)
    expected = torch.cat([masked, sinks], dim=-1).softmax(-1)
    assert largest_difference(trace.weights, expected[..., :-1]) < 1e-12
    assert largest_difference(trace["sink_weights"].tensor, expected[..., -1]) < 1e-12
    assert {word: trace.options[word] for word in options} == options


@pytest.mark.parametrize("mask", [None, masks.causal(), masks.padding([7, 4])], ids=str)
@pytest.mark.parametrize(
    "options",
    [{"bias": "alibi"}, {"sink": "learned"}, {"sink": "off_by_one", "bias": "alibi"}],
    ids=str,
)
@pytest.mark.parametrize("name", SOFTMAX)
def test_fused_kernel_agrees(name: str, options: dict, mask: masks.Mask | None) -> None:
    runs = [
        av.run(name, asking("float64"), mask=mask, kernel=kernel, **options)
        for kernel in ("reference", "sdpa")
    ]
    assert largest_difference(runs[0].output, runs[1].output) < 1e-12


@pytest.mark.parametrize("name", SOFTMAX)
def test_every_option_changes_the_output(name: str) -> None:
    plain = av.run(name, asking(), mask=masks.causal()).output
    for word, choices in SCORE_OPTIONS.items():
        for choice in choices[1:]:
            trace = av.run(name, asking(), mask=masks.causal(), **{word: choice})
            assert largest_difference(trace.output, plain) > 1e-5, (word, choice)


def test_a_query_without_keys_gives_all_to_the_sink() -> None:
    hidden = ~masks.bidirectional()
    trace = av.run("multi_head", asking(), mask=hidden, sink="learned", empty_rows="zero")
    assert not bool(trace.weights.any())
    assert bool((trace["sink_weights"].tensor == 1).all())


def test_what_cannot_be_is_told() -> None:
    with pytest.raises(av.AttnvizError, match="leave out context, or choose bias='none'"):
        av.run("multi_head", asking(), context=answering(), bias="alibi")
    with pytest.raises(av.AttnvizError, match="no soft cap; choose kernel='reference'"):
        av.run("multi_head", asking(), kernel="sdpa", softcap=5)
    with pytest.raises(av.AttnvizError, match="softcap must be one of none, 50, 20, 5; received"):
        av.run("multi_head", asking(), softcap=7)

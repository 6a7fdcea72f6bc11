"""Object queries against transformers' DETR decoder layer and torch's multi-head attention."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from transformers import DetrConfig
from transformers.models.detr.modeling_detr import DetrDecoderLayer, DetrSinePositionEmbedding

import attnviz as av
from attnviz import masks
from attnviz.positions import detr_sine
from attnviz.variants import object_query
from tests.variants.cases import answering, largest_difference

D_MODEL, HEADS, QUERIES, GRID = 16, 4, 5, (3, 4)
TOLERANCE = {"float32": 2e-6, "float64": 1e-12}


def memory(dtype: str = "float64") -> av.Inputs:
    drawn = av.random_inputs(GRID[0] * GRID[1], D_MODEL, batch=2, seed=1).embeddings
    return av.Inputs(drawn.to(getattr(torch, dtype)), grid=GRID)


def run(x: av.Inputs, **choices: object) -> av.Trace:
    return av.run("object_query", x, n_heads=HEADS, n_queries=QUERIES, **choices)


def positions(dtype: torch.dtype) -> Tensor:
    """transformers' own, (1, patches, d_model)."""
    embedding = DetrSinePositionEmbedding(D_MODEL // 2, normalize=True)
    made = embedding(torch.Size((1, 1, *GRID)), device="cpu", dtype=dtype)
    return made.flatten(2).mT


def detr(trace: av.Trace) -> DetrDecoderLayer:
    """A decoder layer with the weights of a run, no biases."""
    config = DetrConfig(
        d_model=D_MODEL, decoder_attention_heads=HEADS, decoder_ffn_dim=8, dropout=0.0,
        use_timm_backbone=False, use_pretrained_backbone=False, backbone=None,
    )  # fmt: skip
    config._attn_implementation = "eager"
    layer = DetrDecoderLayer(config).to(trace.output.dtype).eval()
    with torch.no_grad():
        for attention, prefix in ((layer.self_attn, "W_self_"), (layer.encoder_attn, "W_")):
            for letter in "qkvo":
                projection = getattr(attention, f"{letter}_proj")
                projection.weight.copy_(trace.parameters[f"{prefix}{letter}"].T)
                projection.bias.zero_()
    return layer


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("decoder_layer", ["first", "later"])
def test_it_is_detrs_decoder_layer(decoder_layer: str, dtype: str) -> None:
    """Both maps, and what each attention hands on before any norm."""
    x = memory(dtype)
    trace = run(x, decoder_layer=decoder_layer, seed=3)
    layer, seen = detr(trace), {}
    for word in ("self_attn", "encoder_attn"):
        getattr(layer, word).register_forward_hook(
            lambda module, given, made, word=word: seen.update({word: made})
        )
    with torch.no_grad():
        layer(
            trace["target"].tensor,
            spatial_position_embeddings=positions(x.embeddings.dtype),
            object_queries_position_embeddings=trace["object_queries"].tensor,
            encoder_hidden_states=x.embeddings,
        )
    bound = TOLERANCE[dtype]
    assert largest_difference(trace["self_output"].tensor, seen["self_attn"][0]) < bound
    assert largest_difference(trace["self_weights"].tensor, seen["self_attn"][1]) < bound
    assert largest_difference(trace.output, seen["encoder_attn"][0]) < bound
    assert largest_difference(trace.weights, seen["encoder_attn"][1]) < bound
    handed = float(trace["self_output"].tensor.abs().max())
    assert (handed > 0.1) if decoder_layer == "later" else (handed == 0)


def torch_attention(trace: av.Trace, key: Tensor, value: Tensor, **given: Tensor) -> tuple:
    W = trace.parameters
    module = nn.MultiheadAttention(D_MODEL, HEADS, bias=False, batch_first=True, dtype=value.dtype)
    with torch.no_grad():
        module.in_proj_weight.copy_(torch.cat([W["W_q"], W["W_k"], W["W_v"]], dim=1).T)
        module.out_proj.weight.copy_(W["W_o"].T)
        query = trace["query_input"].tensor
        return module(query, key, value, average_attn_weights=False, **given)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("kernel", ["reference", "sdpa"])
def test_it_is_torchs_attention_with_positions_on_keys_alone(kernel: str, dtype: str) -> None:
    x = memory(dtype)
    trace = run(x, mask=masks.padding([12, 7]), decoder_layer="later", kernel=kernel)
    filler = torch.arange(12)[None] >= torch.tensor([[12], [7]])
    key = x.embeddings + positions(x.embeddings.dtype)
    output, weights = torch_attention(trace, key, x.embeddings, key_padding_mask=filler)
    assert largest_difference(trace.output, output) < TOLERANCE[dtype]
    if kernel == "reference":
        assert largest_difference(trace.weights, weights) < TOLERANCE[dtype]
        assert not bool(trace.weights[1, ..., 7:].any())


def without_scale(*given: Tensor, scale: float, **options: object) -> dict[str, Tensor]:
    return ATTEND(*given, scale=1.0, **options)


ATTEND, PLACE = object_query.attend, object_query.place


def nowhere(x: Tensor, setup: object) -> dict[str, Tensor]:
    return {"memory_positions": torch.zeros_like(x), "key_input": x}


@pytest.mark.parametrize(
    ("word", "changed"), [("attend", without_scale), ("place", nowhere)], ids=["scale", "position"]
)
def test_what_is_left_out_is_noticed(
    word: str, changed: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = memory()
    monkeypatch.setattr(object_query, word, changed)
    trace = run(x, decoder_layer="later")
    key = x.embeddings + positions(torch.float64)
    output, weights = torch_attention(trace, key, x.embeddings)
    assert largest_difference(trace.output, output) > 1e-2
    assert largest_difference(trace.weights, weights) > 1e-2


def test_a_position_in_the_values_would_be_noticed() -> None:
    x = memory()
    trace = run(x)
    key = x.embeddings + positions(torch.float64)
    output, weights = torch_attention(trace, key, key)
    assert largest_difference(trace.weights, weights) < 1e-12
    assert largest_difference(trace.output, output) > 1e-2


@pytest.mark.parametrize("grid", [(3, 4), (1, 7), (5, 1)])
def test_positions_are_detrs(grid: tuple[int, int]) -> None:
    embedding = DetrSinePositionEmbedding(D_MODEL // 2, normalize=True)
    made = embedding(torch.Size((1, 1, *grid)), device="cpu", dtype=torch.float64)
    assert largest_difference(detr_sine(grid, D_MODEL), made[0].flatten(1).mT) < 1e-12


def test_queries_are_the_same_for_every_image_and_any_number() -> None:
    few, more = run(memory()), av.run("object_query", memory(), n_heads=HEADS, n_queries=9)
    assert few.query_tokens == tuple(f"object query {n}" for n in range(1, 6))
    assert few.key_tokens == memory().tokens
    assert few.weights.shape == (2, HEADS, 5, 12)
    assert torch.equal(few.parameters["P"], more.parameters["P"][:QUERIES])
    first = few["object_queries"].tensor
    assert torch.equal(first[0], first[1])


def test_what_cannot_be_is_told() -> None:
    x = memory()
    with pytest.raises(av.AttnvizError, match="leave out context"):
        run(x, context=answering())
    with pytest.raises(av.AttnvizError, match="no order, so a mask can hide a key from all"):
        run(x, mask=masks.causal())
    with pytest.raises(av.AttnvizError, match="d_model must be a multiple of 4; received 6"):
        av.run("object_query", av.random_inputs(3, 6), n_heads=2)
    with pytest.raises(av.AttnvizError, match="at no position that could turn them"):
        run(av.random_inputs(4, 16, positions="rotary"))
    with pytest.raises(av.AttnvizError, match="n_queries must be at most 10,000"):
        av.run("object_query", x, n_queries=20_000)

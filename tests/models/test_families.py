"""Random models of many families: exact against their own eager attentions, or refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import transformers as hf

import attnviz as av
from attnviz.errors import ModelError
from attnviz.models import LoadedModel
from tests.models.shrink import build as shrunk
from tests.models.tiny import COMMON, TEXT, build, eager, tokenizer

GROUPED = COMMON | {"num_key_value_heads": 2}
ENDS = {"pad_token_id": 0, "bos_token_id": 0, "eos_token_id": 0}
GPT2 = {"vocab_size": 64, "n_embd": 32, "n_layer": 3, "n_head": 4, "n_positions": 64, **ENDS}
FULL, W4 = ("full", None), ("sliding", 4)

DECODERS: dict[str, tuple[Callable[[], Any], list[tuple[str, int | None]]]] = {
    "llama": (lambda: hf.LlamaConfig(**GROUPED), [FULL] * 3),
    "attention_only": (lambda: hf.LlamaConfig(**GROUPED | {"intermediate_size": 0}), [FULL] * 3),
    "mistral": (lambda: hf.MistralConfig(**GROUPED, sliding_window=4), [W4] * 3),
    "window_beyond": (
        lambda: hf.MistralConfig(**GROUPED, sliding_window=50),
        [("sliding", 50)] * 3,
    ),
    "qwen2": (lambda: hf.Qwen2Config(**GROUPED), [FULL] * 3),
    "qwen3": (lambda: hf.Qwen3Config(**GROUPED, head_dim=8), [FULL] * 3),
    "gpt2": (lambda: hf.GPT2Config(**GPT2), [FULL] * 3),
    "gpt2_layer_scale": (
        lambda: hf.GPT2Config(**GPT2, scale_attn_by_inverse_layer_idx=True),
        [FULL] * 3,
    ),
    "gpt_neox": (lambda: hf.GPTNeoXConfig(**COMMON), [FULL] * 3),
    "gemma2_softcap": (
        lambda: hf.Gemma2Config(
            **GROUPED, head_dim=8, sliding_window=4, attn_logit_softcapping=2.0
        ),
        [W4, FULL, W4],
    ),
    "gemma3": (
        lambda: hf.Gemma3TextConfig(
            **GROUPED | {"num_hidden_layers": 6}, head_dim=8, sliding_window=4
        ),
        [W4] * 5 + [FULL],
    ),
    "gpt_oss_sinks": (
        lambda: hf.GptOssConfig(
            **GROUPED,
            head_dim=8,
            sliding_window=4,
            num_local_experts=2,
            num_experts_per_tok=1,
            **ENDS,
        ),
        [W4, FULL, W4],
    ),
    "deepseek_latent": (
        lambda: hf.DeepseekV3Config(
            **COMMON,
            num_key_value_heads=4,
            q_lora_rank=16,
            kv_lora_rank=8,
            qk_rope_head_dim=4,
            qk_nope_head_dim=8,
            v_head_dim=8,
            n_routed_experts=2,
            num_experts_per_tok=1,
            n_group=1,
            topk_group=1,
            first_k_dense_replace=3,
            **ENDS,
        ),
        [("latent", None)] * 3,
    ),
    "llama4_chunks": (
        lambda: hf.Llama4TextConfig(
            **GROUPED,
            head_dim=8,
            attention_chunk_size=4,
            num_local_experts=2,
            intermediate_size_mlp=48,
            **ENDS,
        ),
        [("sparse", None)] * 3,
    ),
    "diff_llama": (lambda: hf.DiffLlamaConfig(**GROUPED), [FULL] * 3),
}
ENCODERS: dict[str, tuple[Callable[[], Any], list[tuple[str, int | None]]]] = {
    "bert": (lambda: hf.BertConfig(**COMMON), [FULL] * 3),
    "roberta": (lambda: hf.RobertaConfig(**COMMON), [FULL] * 3),
    "albert_shared": (lambda: hf.AlbertConfig(**COMMON, embedding_size=16), [FULL] * 3),
    "modernbert": (
        lambda: hf.ModernBertConfig(
            **COMMON,
            local_attention=6,
            global_attn_every_n_layers=2,
            cls_token_id=0,
            sep_token_id=0,
            **ENDS,
        ),
        [FULL, W4, FULL],
    ),
}


def compare(model: LoadedModel, expected: Any, kinds: list[tuple[str, int | None]]) -> None:
    capture = av.capture(model, TEXT)
    assert [(layer.kind, layer.window) for layer in capture.layers] == kinds
    assert capture.check.passed
    attentions = expected(capture.token_ids)
    for layer, maps in zip(capture.captured, attentions, strict=False):
        assert maps.shape[1] == layer.n_heads
        for head in range(layer.n_heads):
            np.testing.assert_allclose(
                capture.weights(layer.index, head), maps[0, head].numpy(), rtol=0, atol=1e-5
            )


@pytest.mark.parametrize("family", DECODERS)
def test_decoders_are_exact(family: str) -> None:
    config, kinds = DECODERS[family]
    model = build(config())
    assert model.kind == "decoder"
    compare(model, lambda ids: eager(model, ids).attentions, kinds)


@pytest.mark.parametrize("family", ENCODERS)
def test_encoders_are_exact(family: str) -> None:
    config, kinds = ENCODERS[family]
    model = build(config(), "encoder")
    assert model.kind == "encoder"
    compare(model, lambda ids: eager(model, ids).attentions, kinds)


def test_a_position_bias_is_in_the_map() -> None:
    """T5's encoder adds a learned bias to the scores."""
    config = hf.T5Config(
        vocab_size=64,
        d_model=32,
        d_kv=8,
        d_ff=48,
        num_layers=3,
        num_heads=4,
        is_encoder_decoder=False,
    )
    torch.manual_seed(0)
    raw = hf.T5EncoderModel(config).eval()
    with torch.no_grad():
        for parameter in raw.parameters():
            if parameter.ndim > 1:
                parameter.normal_(0.0, 0.25)
    model = av.from_transformers(raw, tokenizer())
    compare(model, lambda ids: eager(model, ids).attentions, [FULL] * 3)


def test_sinks_take_what_the_keys_do_not() -> None:
    """With all sinks at 0 and all scores at 0, row i gives each key 1 / (i + 2)."""
    model = build(DECODERS["gpt_oss_sinks"][0]())
    with torch.no_grad():
        for name, parameter in model.model.named_parameters():
            if "sinks" in name or "q_proj" in name:
                parameter.zero_()
    capture = av.capture(model, TEXT)
    assert capture.layers[1].sinks
    seen = np.arange(1, 14)
    np.testing.assert_allclose(capture.weights(1, 0).sum(-1), seen / (seen + 1), atol=1e-6)


def test_layers_keep_their_true_numbers_beside_other_mixers() -> None:
    config = hf.JambaConfig(
        **GROUPED | {"num_hidden_layers": 4},
        attn_layer_period=2,
        attn_layer_offset=1,
        use_mamba_kernels=False,
        num_experts=2,
        **ENDS,
    )
    model = build(config)
    capture = av.capture(model, TEXT)
    assert [(layer.index, layer.kind, layer.captured) for layer in capture.layers] == [
        (0, "state_space", True),
        (1, "full", True),
        (2, "state_space", True),
        (3, "full", True),
    ]
    maps = [m for m in eager(model, capture.token_ids).attentions if m is not None]
    np.testing.assert_allclose(capture.weights(3, 2), maps[1][0, 2].numpy(), atol=1e-5)
    assert capture.overview().shape[0] == 2
    assert sorted(set(capture.metrics()["layer"])) == [1, 3]
    assert [layer.index for layer in capture.captured] == [1, 3]
    with pytest.raises(ModelError, match="Layer 2 has no attention map: it has an effective map"):
        capture.blocked(2)


def test_a_layer_with_two_mixers_is_listed_twice() -> None:
    config = hf.FalconH1Config(
        **GROUPED,
        head_dim=8,
        mamba_d_ssm=32,
        mamba_n_heads=4,
        mamba_d_head=8,
        mamba_d_state=8,
        **ENDS,
    )
    capture = av.capture(build(config), TEXT)
    listed = [(layer.index, layer.kind) for layer in capture.layers]
    assert listed == [(n, kind) for n in range(3) for kind in ("full", "state_space")]
    assert capture.weights(1, 0).shape == (13, 13)


def test_a_model_whose_maps_cannot_be_had_is_refused_in_words() -> None:
    model = av.from_transformers(shrunk("MASKED_LM", "mra"), tokenizer())
    with pytest.raises(ModelError, match=r"choose (another|a) model"):
        av.capture(model, TEXT)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float64])
def test_other_number_formats(dtype: torch.dtype) -> None:
    model = build(hf.LlamaConfig(**GROUPED))
    model.model.to(dtype)
    capture = av.capture(model, TEXT)
    assert capture.dtype == str(dtype).removeprefix("torch.")
    weights = capture.weights(1, 1)
    assert weights.dtype == np.float32
    np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-5)
    maps = eager(model, capture.token_ids).attentions[1][0, 1].float().numpy()
    np.testing.assert_allclose(weights, maps, atol=2e-2 if dtype is torch.bfloat16 else 1e-6)

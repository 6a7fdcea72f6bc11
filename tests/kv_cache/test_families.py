"""Layers read from configs: objects and plain mappings alike, unknown ones refused."""

import json

import pytest
import transformers

from attnviz import kv_cache as kv
from attnviz.errors import AttnvizError
from tests.kv_cache.tiny_models import DECODERS, config

LLAMA = {
    "model_type": "llama",
    "num_hidden_layers": 2,
    "num_attention_heads": 8,
    "num_key_value_heads": 2,
    "hidden_size": 64,
}


@pytest.mark.parametrize("name", DECODERS)
def test_a_config_json_reads_like_its_object(name: str):
    spec = kv.CacheSpec.from_config(config(name))
    read = json.loads(config(name).to_json_string(use_diff=False))
    assert kv.CacheSpec.from_config(read).layers == spec.layers


@pytest.mark.parametrize(
    ("slug", "config"),
    [
        (
            "llama-3-8b",
            {
                "model_type": "llama",
                "num_hidden_layers": 32,
                "num_attention_heads": 32,
                "num_key_value_heads": 8,
                "hidden_size": 4096,
            },
        ),
        (
            "qwen2.5-7b",  # a window that use_sliding_window switches off
            {
                "model_type": "qwen2",
                "num_hidden_layers": 28,
                "num_attention_heads": 28,
                "num_key_value_heads": 4,
                "hidden_size": 3584,
                "sliding_window": 131072,
                "use_sliding_window": False,
            },
        ),
        (
            "gemma-3-1b",
            {
                "model_type": "gemma3",
                "text_config": {
                    "model_type": "gemma3_text",
                    "num_hidden_layers": 26,
                    "num_attention_heads": 4,
                    "num_key_value_heads": 1,
                    "head_dim": 256,
                    "sliding_window": 512,
                },
            },
        ),
        (
            "deepseek-v3.2",
            {
                "model_type": "deepseek_v32",
                "num_hidden_layers": 61,
                "num_attention_heads": 128,
                "num_key_value_heads": 128,
                "kv_lora_rank": 512,
                "qk_rope_head_dim": 64,
                "index_head_dim": 128,
            },
        ),
        (
            "jamba-v0.1",
            {
                "model_type": "jamba",
                "num_hidden_layers": 32,
                "num_attention_heads": 32,
                "num_key_value_heads": 8,
                "hidden_size": 4096,
                "attn_layer_period": 8,
                "attn_layer_offset": 4,
                "mamba_d_state": 16,
                "mamba_d_conv": 4,
                "mamba_expand": 2,
            },
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_checkpoints_config_gives_its_preset(slug: str, config: dict):
    assert kv.CacheSpec.from_config(config).layers == kv.preset(slug).layers


@pytest.mark.parametrize(
    ("slug", "config"),
    [
        ("kimi-linear-48b-a3b", {"kda_layers": [], "full_attn_layers": [4, 8, 12, 16, 20, 24, 27]}),
    ],
)
def test_the_stated_pattern_comes_before_the_class_default(slug: str, config: dict):
    stated = transformers.KimiLinearConfig(
        linear_attn_config={
            **config,
            "kda_layers": [n for n in range(1, 28) if n not in config["full_attn_layers"]],
            "num_heads": 32,
            "head_dim": 128,
            "short_conv_kernel_size": 4,
        }
    )
    assert kv.CacheSpec.from_config(stated).layers == kv.preset(slug).layers


def test_an_explicit_head_dim_is_honoured():
    assert kv.CacheSpec.from_config(LLAMA).layers == (kv.Full(2, 8),) * 2
    assert kv.CacheSpec.from_config({**LLAMA, "head_dim": 32}).layers == (kv.Full(2, 32),) * 2


def test_encoders_keep_nothing_until_they_decode():
    bert = {
        "model_type": "bert",
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "hidden_size": 32,
    }
    assert kv.CacheSpec.from_config(bert).layers == (kv.NoCache(),) * 2
    decoding = kv.CacheSpec.from_config({**bert, "is_decoder": True})
    assert decoding.layers == (kv.Full(4, 8),) * 2


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        ({"model_type": "warp_drive"}, "architecture 'warp_drive' is not known here"),
        ({"num_hidden_layers": 2}, "no model_type"),
        ("llama", "a transformers config or the mapping in a config.json, not str"),
        ({"model_type": "llama"}, "llama config needs num_hidden_layers or .* has none"),
        ({**LLAMA, "num_key_value_heads": 3}, "3 KV heads .* do not share 8 query heads evenly"),
        ({**LLAMA, "hidden_size": 65}, "hidden size 65 is not a multiple of its 8 heads"),
        ({**LLAMA, "num_hidden_layers": "many"}, "must be a whole number, not 'many'"),
        ({**LLAMA, "layer_types": ["full_attention"]}, "layer_types must name 2 layers, not 1"),
        (
            {**LLAMA, "layer_types": ["full_attention", "chunked_attention"]},
            "a layer of type 'chunked_attention'",
        ),
        (
            {**LLAMA, "layer_types": ["full_attention", "sliding_attention"]},
            "needs sliding_window",
        ),
        ({**LLAMA, "model_type": "qwen3"}, "qwen3 config needs head_dim"),
        (
            {**LLAMA, "model_type": "bert", "is_decoder": True, "add_cross_attention": True},
            "bert decoder with cross-attention is not known",
        ),
    ],
)
def test_what_is_refused(config: object, sentence: str):
    with pytest.raises(AttnvizError, match=sentence):
        kv.CacheSpec.from_config(config)


KIMI = {
    "model_type": "kimi_linear",
    "num_hidden_layers": 4,
    "hidden_size": 64,
    "num_attention_heads": 4,
    "kv_lora_rank": 16,
    "qk_rope_head_dim": 8,
}
KDA = {"num_heads": 4, "head_dim": 16, "short_conv_kernel_size": 4}
BAMBA = {
    "model_type": "bamba",
    "num_hidden_layers": 4,
    "hidden_size": 64,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "mamba_expand": 2,
    "mamba_n_heads": 8,
    "mamba_d_state": 16,
    "mamba_n_groups": 1,
    "mamba_d_conv": 4,
}
JAMBA = {**BAMBA, "model_type": "jamba", "attn_layer_period": 2}


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        ({**KIMI, "linear_attn_config": "x"}, "must hold named fields, not 'x'"),
        ({**KIMI, "linear_attn_config": {**KDA, "full_attn_layers": 1}}, "a list of layer numbers"),
        ({**KIMI, "linear_attn_config": {**KDA, "full_attn_layers": [99]}}, "at most 4, not 99"),
        ({**KIMI, "linear_attn_config": {**KDA, "full_attn_layers": ["4"]}}, "whole number"),
        ({**BAMBA, "attn_layer_indices": "x"}, "a list of layer numbers"),
        ({**BAMBA, "attn_layer_indices": [1, 99]}, "at most 3, not 99"),
        ({**BAMBA, "attn_layer_indices": [-5]}, "at least 0, not -5"),
        ({**JAMBA, "attn_layer_offset": 7}, "at most 1, not 7"),
        ({**JAMBA, "attn_layer_offset": 1.5}, "whole number"),
        (
            {**JAMBA, "model_type": "minimax", "head_dim": 16, "attn_type_list": [1]},
            "for each of 4 layers",
        ),
        ({**LLAMA, "max_position_embeddings": "x"}, "whole number"),
        ({**LLAMA, "max_position_embeddings": [1]}, "whole number"),
    ],
)
def test_layers_that_are_not_there_are_refused(config: dict, sentence: str):
    with pytest.raises(AttnvizError, match=sentence):
        kv.CacheSpec.from_config(config)


def test_what_only_describes_a_model_may_say_nothing():
    spec = kv.CacheSpec.from_config({**LLAMA, "max_position_embeddings": -1, "_name_or_path": [1]})
    assert spec.max_context is None
    assert spec.name == "llama"

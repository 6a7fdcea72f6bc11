"""A transformers config with the cache of a spec, and as little else as the library allows.

Vocabulary, feed-forward layers and experts do not touch a cache, so they are small here; layers,
heads, widths, windows and states are the model's own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from attnviz.errors import AttnvizError
from attnviz.kv_cache.layers import Cross, Full, Latent, Layer, Linear, Sliding
from attnviz.kv_cache.spec import CacheSpec

Fields = dict[str, Any]
Kind = TypeVar("Kind", bound=Layer)

_LITTLE = {
    "vocab_size": 64,
    "intermediate_size": 64,
    "moe_intermediate_size": 16,
    "num_experts": 2,
    "num_local_experts": 2,
    "num_experts_per_tok": 1,
    "max_position_embeddings": 2**21,
    "pad_token_id": 0,
    "eos_token_id": 1,
}


def config_of(spec: CacheSpec) -> Any:
    """The transformers config whose cache this spec describes.

    The config that the spec was read from where there is one, else a stand-in made from the
    layers. Raises AttnvizError for a spec that no architecture of the library holds.
    """
    from attnviz.kv_cache.allocation import library

    transformers = library()
    if spec.config is not None:
        if not isinstance(spec.config, Mapping):
            return spec.config
        given = dict(spec.config)
        return transformers.AutoConfig.for_model(given.pop("model_type"), **given)
    kind = spec.model_type or ""
    if kind not in _BUILDERS:
        raise AttnvizError(
            f"The cache of {spec.name} cannot be allocated here: it names no architecture of "
            "transformers that a small stand-in is known for."
        )
    return transformers.AutoConfig.for_model(kind, **_BUILDERS[kind](spec))


def _only(spec: CacheSpec, kind: type[Kind]) -> Kind:
    return next(layer for layer in spec.layers if isinstance(layer, kind))


def _shape(spec: CacheSpec) -> Fields:
    heads, width = int(spec.n_heads or 1), int(spec.head_dim or 1)
    return {
        **_LITTLE,
        "num_hidden_layers": spec.n_layers,
        "num_attention_heads": heads,
        "hidden_size": heads * width,
    }


def _words(spec: CacheSpec, words: Mapping[str, str]) -> list[str]:
    return [words[layer.kind] for layer in spec.layers]


def _attention(spec: CacheSpec) -> Fields:
    full = _only(spec, Full)
    windows = [layer.window for layer in spec.layers if isinstance(layer, Sliding)]
    words = {"full": "full_attention", "sliding": "sliding_attention"}
    return {
        **_shape(spec),
        "num_key_value_heads": full.n_kv_heads,
        "head_dim": full.head_dim,
        "layer_types": _words(spec, words),
        "sliding_window": windows[0] if windows else None,
    }


def _encoder(spec: CacheSpec) -> Fields:
    return {**_shape(spec), "max_position_embeddings": 4096}  # on the CPU each has a vector


def _falcon(spec: CacheSpec) -> Fields:
    heads = _only(spec, Full).n_kv_heads
    new = heads > 1
    return {
        **_shape(spec),
        "new_decoder_architecture": new,
        "multi_query": not new,
        "num_kv_heads": heads,
    }


def _gpt2(spec: CacheSpec) -> Fields:
    heads, width = int(spec.n_heads or 1), int(spec.head_dim or 1)
    shape = {"n_layer": spec.n_layers, "n_head": heads, "n_embd": heads * width}
    return {**shape, "vocab_size": 64, "n_inner": 64, "n_positions": 2**17}


def _latent(spec: CacheSpec) -> Fields:
    layer, width = _only(spec, Latent), int(spec.head_dim or 1)
    heads = 4  # no tensor of this cache has heads
    sparse = {"index_head_dim": layer.index_head_dim, "index_n_heads": 2, "index_topk": 64}
    return {
        **_shape(spec),
        "hidden_size": 64,
        "num_attention_heads": heads,
        "num_key_value_heads": heads,
        "kv_lora_rank": layer.kv_lora_rank,
        "q_lora_rank": 64,
        "qk_rope_head_dim": layer.qk_rope_head_dim,
        "qk_nope_head_dim": width,
        "v_head_dim": width,
        "first_k_dense_replace": spec.n_layers,
        **(sparse if layer.index_head_dim else {}),
    }


def _kimi_linear(spec: CacheSpec) -> Fields:
    state = _only(spec, Linear)
    counted = list(enumerate(spec.layers, 1))
    return {
        **_latent(spec),
        "q_lora_rank": None,
        "linear_attn_config": {
            "kda_layers": [i for i, layer in counted if isinstance(layer, Linear)],
            "full_attn_layers": [i for i, layer in counted if isinstance(layer, Latent)],
            "num_heads": state.state_shape[0],
            "head_dim": state.state_shape[1],
            "short_conv_kernel_size": state.conv_kernel,
        },
    }


def _gated_delta_net(spec: CacheSpec) -> Fields:
    state = _only(spec, Linear)
    values, key_dim, value_dim = state.state_shape
    words = {"full": "full_attention", "linear": "linear_attention"}
    return {
        **_attention_in(spec, words),
        "linear_num_value_heads": values,
        "linear_num_key_heads": (state.conv_channels - values * value_dim) // (2 * key_dim),
        "linear_key_head_dim": key_dim,
        "linear_value_head_dim": value_dim,
        "linear_conv_kernel_dim": state.conv_kernel,
        "shared_expert_intermediate_size": 16,
    }


def _attention_in(spec: CacheSpec, words: Mapping[str, str]) -> Fields:
    full = _only(spec, Full)
    return {
        **_shape(spec),
        "num_key_value_heads": full.n_kv_heads,
        "head_dim": full.head_dim,
        "layer_types": _words(spec, words),
    }


def _minimax(spec: CacheSpec) -> Fields:
    return _attention_in(spec, {"full": "full_attention", "linear": "linear_attention"})


def _jamba(spec: CacheSpec) -> Fields:
    state, full = _only(spec, Linear), _only(spec, Full)
    attended = [i for i, layer in enumerate(spec.layers) if isinstance(layer, Full)]
    fields = {**_shape(spec), "num_key_value_heads": full.n_kv_heads}
    return {
        **fields,
        "attn_layer_offset": attended[0],
        "attn_layer_period": attended[1] - attended[0],
        "mamba_expand": state.state_shape[0] // fields["hidden_size"],
        "mamba_d_state": state.state_shape[1],
        "mamba_d_conv": state.conv_kernel,
    }


def _bamba(spec: CacheSpec) -> Fields:
    state, full = _only(spec, Linear), _only(spec, Full)
    heads, width, size = state.state_shape
    fields = {**_shape(spec), "num_key_value_heads": full.n_kv_heads}
    return {
        **fields,
        "attn_layer_indices": [i for i, each in enumerate(spec.layers) if isinstance(each, Full)],
        "mamba_expand": heads * width // fields["hidden_size"],
        "mamba_n_heads": heads,
        "mamba_d_head": width,
        "mamba_d_state": size,
        "mamba_n_groups": (state.conv_channels - heads * width) // (2 * size),
        "mamba_d_conv": state.conv_kernel,
    }


def _t5(spec: CacheSpec) -> Fields:
    own = _only(spec, Cross)
    layers = {"num_layers": 1, "num_decoder_layers": spec.n_layers}
    shape = {"num_heads": own.n_kv_heads, "d_kv": own.head_dim}
    return {**layers, **shape, "vocab_size": 64, "d_model": 64, "d_ff": 64}


def _bart(spec: CacheSpec) -> Fields:
    own = _only(spec, Cross)
    heads = own.n_kv_heads
    return {
        "vocab_size": 64,
        "d_model": heads * own.head_dim,
        "encoder_layers": 1,
        "decoder_layers": spec.n_layers,
        "encoder_attention_heads": heads,
        "decoder_attention_heads": heads,
        "encoder_ffn_dim": 64,
        "decoder_ffn_dim": 64,
    }


_PLAIN = ("llama", "mistral", "mixtral", "qwen2", "qwen3", "qwen3_moe", "gemma2", "gemma3_text")
_BUILDERS: dict[str, Callable[[CacheSpec], Fields]] = {
    **dict.fromkeys((*_PLAIN, "gpt_oss"), _attention),
    **dict.fromkeys(("deepseek_v2", "deepseek_v3", "deepseek_v32"), _latent),
    **dict.fromkeys(("qwen3_next", "qwen3_5_text"), _gated_delta_net),
    **dict.fromkeys(("bert", "longformer", "big_bird"), _encoder),
    "falcon": _falcon,
    "gpt2": _gpt2,
    "kimi_linear": _kimi_linear,
    "minimax": _minimax,
    "jamba": _jamba,
    "bamba": _bamba,
    "t5": _t5,
    "bart": _bart,
}

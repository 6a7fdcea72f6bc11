"""Any transformers config made tiny: a new architecture is tried in one line, shrink("name").

A config's fields say what they are by name, so a table of patterns shrinks them all: widths,
depths, heads, vocabularies, windows. Sub-configs are shrunk alike. The few configs whose fields
depend on each other in ways that no name tells have a line in shrink_exceptions.py.
"""

from __future__ import annotations

import re
from typing import Any

import transformers
from transformers.models.auto import modeling_auto
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

from tests.models.shrink_exceptions import EXCEPTIONS

TASKS = ("CAUSAL_LM", "MASKED_LM", "SEQ_TO_SEQ_CAUSAL_LM", "IMAGE_CLASSIFICATION")
KV_HEADS = r"\w*(kv_heads|key_value_heads)|num_query_groups"

# The first pattern that matches the whole name of a number's field gives its new value.
RULES: tuple[tuple[str, int], ...] = (
    (r"(pad|bos|sep|cls|decoder_start|mask|blank)_token_id|forced_\w+_token_id", 0),
    (r"eos_token_id", 1),
    (r"\w*(image|video|audio|vision|boi|eoi|boa|eoa)\w*_(token_id|token_index)", 60),
    (r"\w*vocab_size\w*", 64),
    (r"(num_|n_)?(hidden_|encoder_|decoder_)?layers?|depth|num_(en|de)coder_layers", 2),
    (r"\w*mamba_(n_|num_)heads", 8),
    (r"d_kv|d_head|dim_head|\w*head_dim|\w*d_head|mamba_headdim|kv_channels", 8),
    (r"attention_head_size", 8),
    (rf"{KV_HEADS}|linear_num_key_heads", 2),
    (r"(num_|n_)?(\w+_)?(attention_)?heads?|linear_num_value_heads", 4),
    (r"\w*ffn_dim|\w*intermediate_size\w*|d_ff|dff|dim_ff|d_inner|n_inner|\w*ffn_hidden_size", 48),
    (r"feed_forward_size", 48),
    (r"\w*hidden_size|d_model|n_embd|embed_dim|dim|embedding_size|emb_dim|\w*embedding_dim", 32),
    (r"\w*hidden_dim|lru_width|word_embed_proj_dim|out_hidden_size|output_dim", 32),
    (r"mamba_d_ssm", 64),
    (r"\w*lora_rank", 16),
    (r"(num_|n_)(local_|routed_)?experts|moe_num_experts", 4),
    (r"(num_)?experts_per_tok(en)?|moe_topk|num_experts_per_tok|top_k_experts", 2),
    (r"(num_|n_)shared_experts|n_group|topk_group|first_k_dense_replace", 1),
    (r"sliding_window(_size)?|attention_window(_size)?|local_attention\w*|window_size", 4),
    (r"attention_chunk_size|local_radius|global_block_size|index_topk", 4),
    (r"\w*max\w*_position_embeddings|n_positions|n_ctx|max_seq_len|context_length", 96),
    (r"max_(source|target)_positions", 96),
    (r"rotary_dim", 4),
    (r"image_size|pretrain_image_size", 32),
    (r"patch_size", 8),
    (r"num_queries", 5),
    (r"(mamba_)?chunk_size|mamba_d_state|ssm_state_size|state_size", 8),
)


def shrink(model_type: str, **changes: Any) -> Any:
    """A tiny config of this model type; changes are its own fields, as they shall be."""
    config_class: Any = CONFIG_MAPPING[model_type]
    exception = EXCEPTIONS.get(model_type, {})
    fields = smaller(config_class()) | exception | changes
    return config_class(**fields)


def smaller(config: Any) -> dict[str, Any]:
    """The fields of this config that its tiny form has otherwise."""
    fields: dict[str, Any] = {}
    for name, value in config.to_dict().items():
        part = getattr(config, name, None) if name in config.sub_configs else None
        if part is not None:
            own = EXCEPTIONS.get(part.model_type, {})
            fields[name] = {"model_type": part.model_type} | smaller(part) | own
        elif isinstance(value, int) and not isinstance(value, bool):
            rule = next((size for pattern, size in RULES if re.fullmatch(pattern, name)), value)
            fields[name] = min(value, rule)
            if re.fullmatch(KV_HEADS, name) and value >= _n_heads(config):
                fields[name] = min(value, 4)  # a key head for each query head, as it was
        elif name in ("layer_types", "layers_block_type") and value:
            fields[name] = kinds_once(value)
        elif name == "head_dim" and value is None:
            fields[name] = 8
    if kinds := fields.get("layer_types", fields.get("layers_block_type")):
        fields["num_hidden_layers"] = len(kinds)
    return fields


def model_class(task: str, model_type: str) -> Any:
    """The class that the auto class of this task makes for this model type."""
    name = getattr(modeling_auto, f"MODEL_FOR_{task}_MAPPING_NAMES")[model_type]
    return getattr(transformers, name if isinstance(name, str) else name[0])


def build(task: str, model_type: str, **changes: Any) -> Any:
    """A tiny random model of this type for this task, in eval mode."""
    if model_type == "reformer":  # two forms under one name
        changes = {"is_decoder": task == "CAUSAL_LM"} | changes
    config, made = shrink(model_type, **changes), model_class(task, model_type)
    for part in ("text_config", "decoder"):  # of a composite config, what the class is made of
        if part in config.sub_configs and made.config_class is config.sub_configs[part]:
            config = getattr(config, part)
    return made._from_config(config).eval()


def kinds_once(kinds: Any) -> list[str]:
    """Every kind of layer, in the order of its first appearance, and two layers at least."""
    once = list(dict.fromkeys(kinds))
    return once if len(once) > 1 else once * 2


def _n_heads(config: Any) -> int:
    names = ("num_attention_heads", "n_heads", "n_head", "num_heads")
    return next((n for name in names if isinstance(n := getattr(config, name, None), int)), 1)

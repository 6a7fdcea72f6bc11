"""Small random models, a config for each family of caches, for measuring real caches."""

from typing import Any

import transformers

SMALL = {
    "vocab_size": 64,
    "hidden_size": 32,
    "intermediate_size": 32,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "pad_token_id": 0,
}
GROUPED = {"num_key_value_heads": 2, "head_dim": 16}
WINDOW = {**GROUPED, "sliding_window": 16}
GPT = {"vocab_size": 64, "n_embd": 64, "n_layer": 2, "n_head": 4}
MLA = {
    "kv_lora_rank": 32,
    "q_lora_rank": None,
    "qk_rope_head_dim": 16,
    "qk_nope_head_dim": 16,
    "v_head_dim": 16,
    "first_k_dense_replace": 4,
}
EXPERTS = {"num_experts": 2, "num_experts_per_tok": 1, "moe_intermediate_size": 16}
DELTA = {
    "num_hidden_layers": 4,
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 4,
    "linear_key_head_dim": 8,
    "linear_value_head_dim": 8,
    "shared_expert_intermediate_size": 16,
}
KDA = {
    "num_hidden_layers": 4,
    "eos_token_id": 1,
    "linear_attn_config": {
        "kda_layers": [1, 2, 3],
        "full_attn_layers": [4],
        "num_heads": 2,
        "head_dim": 8,
        "short_conv_kernel_size": 4,
    },
}

DECODERS: dict[str, tuple[str, dict[str, Any]]] = {
    "llama": ("LlamaConfig", {**SMALL, **GROUPED}),
    "qwen3": ("Qwen3Config", {**SMALL, **GROUPED}),
    "qwen2 windowed": (
        "Qwen2Config",
        {**SMALL, **WINDOW, "use_sliding_window": True, "max_window_layers": 1},
    ),
    "mistral": ("MistralConfig", {**SMALL, **WINDOW}),
    "mistral without window": ("MistralConfig", {**SMALL, **GROUPED, "sliding_window": None}),
    "gemma2": ("Gemma2Config", {**SMALL, **WINDOW}),
    "gemma3": ("Gemma3TextConfig", {**SMALL, **WINDOW, "num_hidden_layers": 7}),
    "gpt_oss": (
        "GptOssConfig",
        {**SMALL, **WINDOW, "num_local_experts": 2, "num_experts_per_tok": 1},
    ),
    "cohere2": ("Cohere2Config", {**SMALL, "sliding_window": 16, "num_hidden_layers": 5}),
    "gpt2": ("GPT2Config", GPT),
    "gpt_bigcode": ("GPTBigCodeConfig", GPT),
    "falcon": (
        "FalconConfig",
        {"vocab_size": 64, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4},
    ),
    "deepseek_v2": ("DeepseekV2Config", {**SMALL, **MLA}),
    "deepseek_v3": ("DeepseekV3Config", {**SMALL, **MLA}),
    "qwen3_next": ("Qwen3NextConfig", {**SMALL, **GROUPED, **EXPERTS, **DELTA}),
    "kimi_linear": ("KimiLinearConfig", {**SMALL, **MLA, **KDA}),
    "minimax": ("MiniMaxConfig", {**SMALL, **GROUPED, "num_local_experts": 2}),
    "jamba": (
        "JambaConfig",
        {**SMALL, "num_key_value_heads": 2, "num_hidden_layers": 8, "num_experts": 2},
    ),
    "bamba": (
        "BambaConfig",
        {**SMALL, "num_key_value_heads": 2, "attn_layer_indices": [1], "mamba_n_heads": 4},
    ),
    "mamba": (
        "MambaConfig",
        {"vocab_size": 64, "hidden_size": 32, "num_hidden_layers": 2, "state_size": 8},
    ),
    "falcon, new": (
        "FalconConfig",
        {**SMALL, "num_kv_heads": 2, "new_decoder_architecture": True},
    ),
    "deepseek_v32": (
        "DeepseekV32Config",
        {**SMALL, **MLA, "q_lora_rank": 16, "index_head_dim": 24, "index_n_heads": 2},
    ),
    "t5": ("T5Config", {"vocab_size": 64, "d_model": 32, "d_kv": 8, "d_ff": 32, "num_heads": 4}),
    "mamba2": (
        "Mamba2Config",
        {
            "vocab_size": 64,
            "hidden_size": 32,
            "num_hidden_layers": 2,
            "state_size": 8,
            "num_heads": 4,
            "head_dim": 16,
            "n_groups": 2,
        },
    ),
}
"""Name: the config's class and its arguments."""


def config(name: str) -> Any:
    kind, arguments = DECODERS[name]
    return getattr(transformers, kind)(**arguments)


_PATTERNED = {"layer_types": ["sliding_attention"] * 2 + ["full_attention"], **WINDOW}
OTHERS: dict[str, dict[str, Any]] = {
    **dict.fromkeys(("ArceeConfig", "Glm4Config", "NemotronConfig", "SeedOssConfig"), GROUPED),
    **dict.fromkeys(("Olmo3Config", "Exaone4Config", "VaultGemmaConfig"), _PATTERNED),
    "Gemma3nTextConfig": {
        **_PATTERNED,
        "num_kv_shared_layers": 2,
        "layer_types": ["sliding_attention", "full_attention"] * 2,
        "num_hidden_layers": 4,
        "hidden_size_per_layer_input": 8,
        "vocab_size_per_layer_input": 64,
        "laurel_rank": 4,
    },
}
"""More architectures with attention alone: the config's class and its arguments."""

_ENCODER = {**SMALL, "max_position_embeddings": 64}
ENCODERS: dict[str, dict[str, Any]] = {
    "BertConfig": _ENCODER,
    "NystromformerConfig": {**_ENCODER, "num_landmarks": 4, "segment_means_seq_len": 40},
}

"""Tiny random models with linear or state-space layers, by family."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import transformers as hf

from tests.models.tiny import COMMON

GROUPED = COMMON | {"num_key_value_heads": 2}
ENDS = {"pad_token_id": 0, "bos_token_id": 0, "eos_token_id": 0}
TYPES = {"layer_types": ["linear_attention", "linear_attention", "full_attention"]}
DELTA = {
    "linear_num_value_heads": 4,
    "linear_num_key_heads": 2,
    "linear_key_head_dim": 8,
    "linear_value_head_dim": 12,
}
EXPERTS = {"num_experts": 2, "num_experts_per_tok": 1}
MAMBA = {"vocab_size": 64, "hidden_size": 32, "state_size": 8, "num_hidden_layers": 2}

FAMILIES: dict[str, Callable[[], Any]] = {
    "qwen3_next": lambda: hf.Qwen3NextConfig(
        **GROUPED | TYPES | DELTA | EXPERTS,
        head_dim=8,
        moe_intermediate_size=16,
        shared_expert_intermediate_size=16,
    ),
    "olmo_hybrid": lambda: hf.OlmoHybridConfig(
        **GROUPED | TYPES | DELTA | {"linear_num_key_heads": 4}, **ENDS
    ),
    "kimi_linear": lambda: hf.KimiLinearConfig(
        **COMMON | TYPES,
        linear_num_heads=4,
        linear_head_dim=8,
        num_experts=2,
        num_experts_per_token=1,
        q_lora_rank=None,
        kv_lora_rank=8,
        qk_rope_head_dim=4,
        qk_nope_head_dim=8,
        v_head_dim=8,
        **ENDS,
    ),
    "minimax": lambda: hf.MiniMaxConfig(
        **GROUPED | TYPES, head_dim=8, block_size=4, num_local_experts=2, num_experts_per_tok=1
    ),
    "jamba": lambda: hf.JambaConfig(
        **GROUPED,
        attn_layer_period=2,
        attn_layer_offset=1,
        num_experts=2,
        mamba_d_state=8,
        mamba_dt_rank=4,
        **ENDS,
    ),
    "bamba": lambda: hf.BambaConfig(
        **GROUPED,
        attn_layer_indices=[1],
        mamba_n_heads=4,
        mamba_d_head=16,
        mamba_n_groups=2,
        mamba_d_state=8,
        mamba_chunk_size=4,
        **ENDS,
    ),
    "mamba": lambda: hf.MambaConfig(**MAMBA),
    "mamba2": lambda: hf.Mamba2Config(**MAMBA, num_heads=8, head_dim=8, n_groups=2, chunk_size=4),
    "falcon_mamba": lambda: hf.FalconMambaConfig(**MAMBA),
    "rwkv": lambda: hf.RwkvConfig(vocab_size=64, hidden_size=32, num_hidden_layers=2, **ENDS),
    "falcon_h1": lambda: hf.FalconH1Config(
        **GROUPED,
        head_dim=8,
        mamba_d_ssm=32,
        mamba_n_heads=4,
        mamba_d_head=8,
        mamba_d_state=8,
        **ENDS,
    ),
    "zamba2": lambda: hf.Zamba2Config(
        **GROUPED,
        n_mamba_heads=4,
        mamba_d_state=8,
        mamba_headdim=16,
        layers_block_type=["mamba", "hybrid", "mamba"],
        chunk_size=4,
        adapter_rank=4,
        **ENDS,
    ),
}

"""What the names of a config's fields do not tell about its tiny form, by model type."""

from __future__ import annotations

from typing import Any

RESNET = {
    "model_type": "resnet",
    "embedding_size": 8,
    "hidden_sizes": [8, 8, 16, 16],
    "depths": [1, 1, 1, 1],
    "layer_type": "basic",
    "out_features": ["stage4"],
}
# Detection models take their backbone from timm, which is not a requirement here.
DETR: dict[str, Any] = {
    "use_timm_backbone": False,
    "use_pretrained_backbone": False,
    "backbone": None,
    "backbone_config": RESNET,
}
SWIN: dict[str, Any] = {
    "image_size": 32,
    "patch_size": 2,
    "embed_dim": 12,
    "depths": [2, 2],
    "num_heads": [2, 4],
    "window_size": 4,
}
ROPE = {"rope_type": "default", "rope_theta": 10000.0}
EXCEPTIONS: dict[str, dict[str, Any]] = {
    "bamba": {"mamba_d_head": 8, "attn_layer_indices": [1]},
    "cohere_compass_text": {"rope_parameters": {"full_attention": ROPE}},
    "conditional_detr": DETR,
    "cvt": {"embed_dim": [16, 24, 48], "depth": [1, 2, 3]},
    "dab-detr": DETR,
    "deformable_detr": DETR,
    "detr": DETR,
    "donut-swin": SWIN,
    "dory": {"layer_types": ["sliding_attention", "mlp", "full_attention", "mlp"] * 2}
    | {"num_hidden_layers": 8, "n_input_layers": 2, "n_recurrent_layers": 4, "n_output_layers": 2},
    "dots1": {"n_routed_experts": 4, "n_shared_experts": 1, "num_experts_per_tok": 2},
    "esm": {"vocab_size": 64, "pad_token_id": 0, "mask_token_id": 2},
    "falcon_h1": {"mamba_d_head": 8, "mamba_n_groups": 1},
    "gemma3n_text": {"intermediate_size": [48] * 4, "num_kv_shared_layers": 2}
    | {"hidden_size_per_layer_input": 8, "activation_sparsity_pattern": [0.0] * 4}
    | {"num_hidden_layers": 4, "layer_types": ["sliding_attention", "full_attention"] * 2},
    "gpt_neo": {"attention_types": [[["global", "local"], 1]]},
    "granitemoehybrid": {"mamba_d_head": 8, "layer_types": ["linear_attention", "full_attention"]},
    "lfm2_moe": {"layer_types": ["conv", "full_attention"], "num_dense_layers": 1},
    "mamba2": {"num_heads": 8},
    "nemotron": {"num_key_value_heads": 2},
    "perceiver": {"num_latents": 6, "d_latents": 16, "num_self_attends_per_block": 2},
    "reformer": {"axial_pos_shape": [8, 12], "axial_pos_embds_dim": [16, 16]}
    | {"attn_layers": ["local", "lsh"], "local_attn_chunk_length": 4, "lsh_attn_chunk_length": 4},
    "swin": SWIN,
    "swinv2": SWIN | {"pretrained_window_sizes": [0, 0]},
    "table-transformer": DETR,
    "xlnet": {"d_model": 32, "n_head": 4, "d_head": 8},
    "zamba": {"num_hidden_layers": 4, "layers_block_type": ["linear_attention", "hybrid"] * 2}
    | {"attention_hidden_size": 64, "attention_head_dim": 16, "mamba_dt_rank": 4}
    | {"num_key_value_heads": 4, "use_mamba_kernels": False},
    "zamba2": {"num_hidden_layers": 4, "layers_block_type": ["linear_attention", "hybrid"] * 2}
    | {"attention_hidden_size": 64, "attention_head_dim": 16, "num_query_groups": 4}
    | {"num_key_value_heads": 4, "use_mamba_kernels": False, "hybrid_layer_ids": [1, 3]}
    | {"n_mamba_heads": 8, "mamba_headdim": 8},
    "deepseek_v2": {"num_experts_per_tok": 2},
    "ernie4_5_moe": {"moe_k": 2},
    "hiera": {"image_size": [64, 64], "embed_dim": 16, "depths": [1, 2, 2, 2]},
    "jamba": {"attn_layer_period": 2, "attn_layer_offset": 1, "num_experts": 2}
    | {"num_hidden_layers": 4, "use_mamba_kernels": False, "mamba_dt_rank": 4},
    "levit": {"image_size": 64, "hidden_sizes": [32, 48, 64], "depths": [1, 1, 1]}
    | {"down_ops": [["Subsample", 16, 2, 4, 2, 2], ["Subsample", 16, 3, 4, 2, 2]]}
    | {"num_attention_heads": [2, 3, 4]},
    "longcat_flash": {"head_dim": 8, "qk_head_dim": 16},
    "mobilebert": {"true_hidden_size": 16, "intra_bottleneck_size": 16},
    "mobilevit": {"image_size": 64, "hidden_sizes": [16, 24, 32]}
    | {"neck_hidden_sizes": [8, 8, 16, 16, 24, 32, 48]},
    "mobilevitv2": {"image_size": 128},
    "poolformer": {"hidden_sizes": [8, 16, 24, 32], "depths": [1, 2, 1, 1]},
    "recurrent_gemma": {
        "num_hidden_layers": 3,
        "block_types": ["recurrent", "recurrent", "attention"],
    },
    "siglip2_vision_model": {"num_patches": 16},
    "xmod": {"default_language": "en_XX"},
    "xlstm": {"chunk_size": 16},
    "bailing_hybrid": {"head_dim": 8, "qk_head_dim": 16},
}

"""transformers' latent attention with the weights of a run, as an oracle."""

from __future__ import annotations

from types import ModuleType

import torch
from transformers import BailingHybridConfig, DeepseekV2Config, DeepseekV3Config
from transformers.models.bailing_hybrid import modeling_bailing_hybrid
from transformers.models.deepseek_v2 import modeling_deepseek_v2
from transformers.models.deepseek_v3 import modeling_deepseek_v3

import attnviz as av
from attnviz import masks

YARN = {
    "rope_type": "yarn",
    "factor": 40.0,
    "mscale": 1.0,
    "mscale_all_dim": 1.0,
    "beta_fast": 32,
    "beta_slow": 1,
    "original_max_position_embeddings": 4096,
    "rope_theta": 10000.0,
}
PLAIN = {"rope_type": "default", "rope_theta": 10000.0}

V2: tuple[ModuleType, str, type] = (modeling_deepseek_v2, "DeepseekV2", DeepseekV2Config)
V3: tuple[ModuleType, str, type] = (modeling_deepseek_v3, "DeepseekV3", DeepseekV3Config)
LING: tuple[ModuleType, str, type] = (
    modeling_bailing_hybrid,
    "BailingHybrid",
    BailingHybridConfig,
)


def theirs(
    model: tuple[ModuleType, str, type],
    trace: av.Trace,
    mask: masks.Mask,
    *,
    rope: dict | None = None,
    before_output=None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """(output, weights). before_output, if given, changes what its output projection gets."""
    module, name, config_class = model
    sizes, W, x = trace.dimensions, trace.parameters, trace["inputs"].tensor
    config = config_class(
        hidden_size=sizes["d_model"],
        num_attention_heads=sizes["n_heads"],
        num_key_value_heads=sizes["n_heads"],
        q_lora_rank=sizes["q_lora_rank"],
        kv_lora_rank=sizes["kv_lora_rank"],
        qk_rope_head_dim=sizes["qk_rope_head_dim"],
        qk_nope_head_dim=sizes["qk_nope_head_dim"],
        v_head_dim=sizes["v_head_dim"],
        head_dim=sizes["qk_rope_head_dim"],
        rope_parameters=rope or PLAIN,
        max_position_embeddings=4096 * (40 if rope else 1),
        attention_bias=False,
    )
    config._attn_implementation = "eager"
    layer = getattr(module, f"{name}Attention")(config, 0).to(x.dtype).eval()
    rotary = getattr(module, f"{name}RotaryEmbedding")(config)
    copy_weights(layer, W, sizes)
    if before_output is not None:
        layer.o_proj.register_forward_pre_hook(lambda _, args: (before_output(args[0]),))
    length = x.shape[1]
    allowed = mask.allowed(length, length)
    with torch.no_grad():
        output, weights = layer(
            x,
            attention_mask=masks.to_additive(allowed, x.dtype),
            position_embeddings=rotary(x, torch.arange(length)[None].expand(x.shape[0], -1)),
        )
    return output, weights


def copy_weights(layer: torch.nn.Module, W, sizes) -> None:
    """Theirs are transposed, joined head by head, and pair neighbouring channels for rotation."""
    H, d_rope = sizes["n_heads"], sizes["qk_rope_head_dim"]

    def by_head(*names: str) -> torch.Tensor:
        return torch.cat([W[n].unflatten(1, (H, -1)) for n in names], dim=2).flatten(1).T

    pairs = torch.arange(d_rope).view(2, -1).T.flatten()  # ours: channel c turns with c + d/2
    turned = {
        "W_qr": W["W_qr"].unflatten(1, (H, -1))[..., pairs].flatten(1),
        "W_kr": W["W_kr"][:, pairs],
    }
    W = {**W, **turned}
    with torch.no_grad():
        layer.q_a_proj.weight.copy_(W["W_dq"].T)
        layer.q_b_proj.weight.copy_(by_head("W_uq", "W_qr"))
        layer.kv_a_proj_with_mqa.weight.copy_(torch.cat([W["W_dkv"], W["W_kr"]], dim=1).T)
        layer.kv_b_proj.weight.copy_(by_head("W_uk", "W_uv"))
        layer.o_proj.weight.copy_(W["W_o"].T)
        if hasattr(layer, "g_proj"):
            layer.g_proj.weight.copy_(W["W_g"].T)

"""Multi-head latent attention (DeepSeek-AI 2024, DeepSeek-V2, section 2.1, equations 9 to 19).

Keys and values of all heads are rebuilt from one small latent a token, so that only the latent is
cached. Positions would stand in the way of that (section 2.1.3), so they travel apart: channels of
their own in each query, and one key for all heads that is rotated. Without rotary positions these
channels stay and are not rotated, as in Kimi Linear (arXiv:2510.26692, section 4).
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attnviz.errors import AttnvizError
from attnviz.positions import apply_rotary, yarn_frequencies
from attnviz.variants.dimensions import per_head, positive
from attnviz.variants.heads import join_heads, split_heads
from attnviz.variants.latent_text import latent_steps, scaled_step
from attnviz.variants.parameters import head_columns, head_rows
from attnviz.variants.softmax import attend, attend_fused, hide, softmax, weigh
from attnviz.variants.text import core_steps, output_steps
from attnviz.variants.variant import Setup, StepText, Tensors, Variant

YARN = {"yarn": ("none", "40", "16", "4")}
"""How many times longer than in training the context shall be; DeepSeek-V3 has 40."""


def project_latent(
    x: Float[Tensor, "batch queries d_model"],
    context: Float[Tensor, "batch keys d_model"],
    W: Mapping[str, Tensor],
    setup: Setup,
) -> Tensors:
    """Down to the latents, up to the heads, and the channels that tell positions beside them."""
    H = setup.dimensions["n_heads"]
    steps = {"query_latent": x @ W["W_dq"]}  # (B, T_q, q_lora_rank)
    c_q = steps["query_latent_normed"] = rms_norm(steps["query_latent"])
    steps["latent"] = context @ W["W_dkv"]  # (B, T_k, kv_lora_rank)
    c = steps["latent_normed"] = rms_norm(steps["latent"])
    steps["query"] = c_q @ W["W_uq"]  # (B, T_q, H * d_h)
    steps["key"] = c @ W["W_uk"]  # (B, T_k, H * d_h)
    steps["value"] = c @ W["W_uv"]  # (B, T_k, H * d_v)
    steps["query_position"] = c_q @ W["W_qr"]  # (B, T_q, H * d_R)
    key_position = steps["key_position"] = context @ W["W_kr"]  # (B, T_k, d_R): one for all heads
    for word in ("query", "key", "value", "query_position"):
        steps[f"{word}_heads"] = split_heads(steps[word], H)  # (B, H, T, ..)
    query_position = steps["query_position_heads"]
    if setup.rotary:
        frequencies = _frequencies(setup)
        query_position = apply_rotary(query_position, frequencies=frequencies)
        key_position = apply_rotary(key_position, frequencies=frequencies)
        steps |= {"query_position_rotated": query_position, "key_position_rotated": key_position}
    shared = key_position[:, None].expand(-1, H, -1, -1)  # (B, H, T_k, d_R)
    steps["query_joined"] = torch.cat([steps["query_heads"], query_position], dim=-1)
    steps["key_joined"] = torch.cat([steps["key_heads"], shared], dim=-1)  # (B, H, T_k, d_k)
    return steps


def rms_norm(x: Float[Tensor, "*batch channels"]) -> Float[Tensor, "*batch channels"]:
    """Each vector divided by the root of its mean square (Zhang and Sennrich 2019), no gain."""
    wide = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
    return (wide * (wide.square().mean(-1, keepdim=True) + 1e-6).rsqrt()).to(x.dtype)


def yarn_scale(options: Mapping[str, object]) -> float:
    """(0.1 ln s + 1)^2 for a context stretched s times (Peng et al. 2023, YaRN, section 3.4).

    It sharpens the softmax over more keys; DeepSeek multiplies the scores by it.
    """
    factor = str(options["yarn"])
    return 1.0 if factor == "none" else (0.1 * math.log(float(factor)) + 1) ** 2


def _frequencies(setup: Setup) -> Tensor | None:
    factor = setup.options["yarn"]
    if factor == "none":
        return None
    return yarn_frequencies(setup.dimensions["qk_rope_head_dim"], float(factor))


def compute(
    x: Float[Tensor, "batch queries d_model"],
    context: Float[Tensor, "batch keys d_model"],
    W: Mapping[str, Tensor],
    allowed: Bool[Tensor, "#batch #heads queries keys"] | None,
    setup: Setup,
) -> Tensors:
    """All heads, every step kept."""
    steps = project_latent(x, context, W, setup)
    query, key, value = (steps[word] for word in ATTENDING)
    steps |= attend(
        query, key, value, allowed=allowed, scale=setup.scale * yarn_scale(setup.options)
    )
    return steps | join_heads(steps.pop("output"), W)


def fused(
    x: Float[Tensor, "batch queries d_model"],
    context: Float[Tensor, "batch keys d_model"],
    W: Mapping[str, Tensor],
    allowed: Bool[Tensor, "#batch #heads queries keys"] | None,
    setup: Setup,
) -> Tensors:
    """The same output from PyTorch's fused kernel."""
    steps = project_latent(x, context, W, setup)
    query, key, value = (steps[word] for word in ATTENDING)
    heads = attend_fused(
        query, key, value, allowed=allowed, scale=setup.scale * yarn_scale(setup.options)
    )
    return steps | join_heads(heads, W)


ATTENDING = ("query_joined", "key_joined", "value_heads")


def dimensions(
    d_model: int,
    n_heads: int = 4,
    head_dim: int | None = None,
    qk_rope_head_dim: int | None = None,
    v_head_dim: int | None = None,
    kv_lora_rank: int | None = None,
    q_lora_rank: int | None = None,
) -> dict[str, int]:
    """head_dim is what meets in a dot product: qk_nope_head_dim (the paper's d_h) and
    qk_rope_head_dim (d_h^R).

    Defaults: head_dim d_model / n_heads, qk_rope_head_dim a third of it (made even), v_head_dim
    qk_nope_head_dim, kv_lora_rank (d_c) twice and q_lora_rank (d_c') three times that.
    """
    H = positive("n_heads", n_heads)
    d_k = per_head(d_model, H, head_dim)
    d_rope = positive(
        "qk_rope_head_dim", max(2, d_k // 6 * 2) if qk_rope_head_dim is None else qk_rope_head_dim
    )
    if d_rope % 2 or d_rope >= d_k:
        raise AttnvizError(
            f"qk_rope_head_dim must be even and below head_dim, which it is part of; received "
            f"qk_rope_head_dim = {d_rope} and head_dim = {d_k}."
        )
    d_h = d_k - d_rope
    return {
        "n_heads": H,
        "head_dim": d_k,
        "qk_nope_head_dim": d_h,
        "qk_rope_head_dim": d_rope,
        "v_head_dim": positive("v_head_dim", d_h if v_head_dim is None else v_head_dim),
        "kv_lora_rank": positive("kv_lora_rank", 2 * d_h if kv_lora_rank is None else kv_lora_rank),
        "q_lora_rank": positive("q_lora_rank", 3 * d_h if q_lora_rank is None else q_lora_rank),
    }


def parameters(d_model: int, seed: int, sizes: Mapping[str, int]) -> Tensors:
    """Down: W_dq, W_dkv. Up: W_uq, W_uk, W_uv, W_qr. W_kr makes the one key that is rotated."""
    H, d_c, d_cq = sizes["n_heads"], sizes["kv_lora_rank"], sizes["q_lora_rank"]
    d_h, d_rope, d_v = sizes["qk_nope_head_dim"], sizes["qk_rope_head_dim"], sizes["v_head_dim"]
    return {
        "W_dq": head_columns("W_dq", seed, 1, d_model, d_cq),
        "W_dkv": head_columns("W_dkv", seed, 1, d_model, d_c),
        "W_uq": head_columns("W_uq", seed, H, d_cq, d_h),
        "W_uk": head_columns("W_uk", seed, H, d_c, d_h),
        "W_uv": head_columns("W_uv", seed, H, d_c, d_v),
        "W_qr": head_columns("W_qr", seed, H, d_cq, d_rope),
        "W_kr": head_columns("W_kr", seed, 1, d_model, d_rope),
        "W_o": head_rows("W_o", seed, H, d_v, d_model),
    }


def describe(setup: Setup) -> dict[str, StepText]:
    """What each step is called, and how it came about."""
    core = core_steps(setup, ("Q_h", "K_h", "V_h"), heads=True, joined=True)
    if setup.options["yarn"] != "none":
        core["scaled"] = scaled_step(setup, yarn_scale(setup.options))
    return latent_steps(setup) | core | output_steps()


VARIANT = Variant(
    name="latent",
    title="Multi-head latent attention",
    source="DeepSeek-AI 2024, DeepSeek-V2, section 2.1 (arXiv:2405.04434)",
    compute=compute,
    fused=fused,
    dimensions=dimensions,
    parameters=parameters,
    describe=describe,
    parts=(project_latent, rms_norm, split_heads, attend, weigh, hide, softmax, join_heads),
    options=YARN,
)

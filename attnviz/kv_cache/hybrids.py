"""Architectures whose layers keep a fixed state, alone or between attention layers."""

from __future__ import annotations

from collections.abc import Callable

from attnviz.errors import AttnvizError
from attnviz.kv_cache.checks import whole
from attnviz.kv_cache.fields import Fields
from attnviz.kv_cache.layers import Full, Latent, Layer, Linear

_ATTENTION = ("full_attention", "attention")
_LINEAR = ("linear_attention", "mamba")


def _interleave(fields: Fields, kinds: list[str], attention: Layer, linear: Layer) -> list[Layer]:
    layers: list[Layer] = []
    for kind in kinds:
        if kind not in _ATTENTION + _LINEAR:
            raise AttnvizError(
                f"This {fields.model_type} config has a layer of type {kind!r}; known here are "
                "full_attention and linear_attention."
            )
        layers.append(attention if kind in _ATTENTION else linear)
    return layers


def _stated(fields: Fields) -> list[str] | None:
    pattern = fields.pattern(fields.n_layers)
    return None if pattern is None else list(pattern)


def gated_delta_net(fields: Fields) -> list[Layer]:
    """Qwen3-Next, Qwen3.5: a state of value heads x key dim x value dim, one conv over q, k, v."""
    keys, values = fields.count("linear_num_key_heads"), fields.count("linear_num_value_heads")
    key_dim, value_dim = fields.count("linear_key_head_dim"), fields.count("linear_value_head_dim")
    linear = Linear(
        (values, key_dim, value_dim),
        conv_channels=2 * keys * key_dim + values * value_dim,
        conv_kernel=fields.count("linear_conv_kernel_dim"),
        mixer="Gated DeltaNet",
    )
    kinds = _stated(fields)
    if kinds is None:
        every = fields.count("full_attention_interval")
        kinds = ["mamba" if (i + 1) % every else "attention" for i in range(fields.n_layers)]
    fields.need("head_dim")
    return _interleave(fields, kinds, Full(fields.n_kv_heads, fields.head_dim), linear)


def kimi_linear(fields: Fields) -> list[Layer]:
    """Kimi Delta Attention with latent attention between; the checkpoint counts layers from 1."""
    inner = fields.part("linear_attn_config")
    heads = inner.get("num_heads") or fields.count("linear_num_heads")
    width = inner.get("head_dim") or fields.count("linear_head_dim")
    linear = Linear(
        (heads, width, width),
        conv_channels=3 * heads * width,
        conv_kernel=inner.get("short_conv_kernel_size") or fields.count("linear_conv_kernel_dim"),
        mixer="KDA (Kimi Delta Attention)",
    )
    kinds = _stated(fields)
    if kinds is None:
        listed = inner.get("full_attn_layers") or fields.need("linear_attn_config.full_attn_layers")
        full = fields.places("full_attn_layers", listed, first=1)
        kinds = ["attention" if i in full else "mamba" for i in range(fields.n_layers)]
    attention = Latent(fields.count("kv_lora_rank"), fields.count("qk_rope_head_dim"))
    return _interleave(fields, kinds, attention, linear)


def lightning(fields: Fields) -> list[Layer]:
    """MiniMax: a state of heads x head dim x head dim, without a convolution."""
    kinds = _stated(fields)
    if kinds is None:
        flags = fields.need("layer_types", "attn_type_list")
        if not isinstance(flags, (list, tuple)) or len(flags) != fields.n_layers:
            raise AttnvizError(
                f"attn_type_list must say 0 or 1 for each of {fields.n_layers} layers, not "
                f"{flags!r}."
            )
        kinds = ["attention" if flag else "mamba" for flag in flags]
    linear = Linear((fields.n_heads, fields.head_dim, fields.head_dim), mixer="Lightning attention")
    return _interleave(fields, kinds, Full(fields.n_kv_heads, fields.head_dim), linear)


def jamba(fields: Fields) -> list[Layer]:
    """Mamba-1 with full attention at a period."""
    period = fields.count("attn_layer_period")
    offset = whole("attn_layer_offset", fields.need("attn_layer_offset"), 0, period - 1)
    inner = fields.count("mamba_expand") * fields.hidden
    linear = Linear(
        (inner, fields.count("mamba_d_state")), inner, fields.count("mamba_d_conv"), "Mamba-1"
    )
    kinds = ["attention" if i % period == offset else "mamba" for i in range(fields.n_layers)]
    return _interleave(fields, kinds, Full(fields.n_kv_heads, fields.head_dim), linear)


def bamba(fields: Fields) -> list[Layer]:
    """Mamba-2 with full attention at stated layers."""
    attended = fields.places("attn_layer_indices", fields.get("attn_layer_indices") or [])
    inner = fields.count("mamba_expand") * fields.hidden
    heads, state = fields.count("mamba_n_heads"), fields.count("mamba_d_state")
    linear = Linear(
        (heads, inner // heads, state),
        conv_channels=inner + 2 * fields.count("mamba_n_groups") * state,
        conv_kernel=fields.count("mamba_d_conv"),
        mixer="Mamba-2",
    )
    kinds = ["attention" if i in attended else "mamba" for i in range(fields.n_layers)]
    return _interleave(fields, kinds, Full(fields.n_kv_heads, fields.head_dim), linear)


def mamba(fields: Fields) -> list[Layer]:
    """Nothing but Mamba-1 layers."""
    inner = fields.count("expand") * fields.hidden
    state = Linear(
        (inner, fields.count("state_size")), inner, fields.count("conv_kernel"), "Mamba-1"
    )
    return [state] * fields.n_layers


def mamba2(fields: Fields) -> list[Layer]:
    """Nothing but Mamba-2 layers."""
    heads, width, state = (fields.count(n) for n in ("num_heads", "head_dim", "state_size"))
    channels = heads * width + 2 * fields.count("n_groups") * state
    layer = Linear((heads, width, state), channels, fields.count("conv_kernel"), "Mamba-2")
    return [layer] * fields.n_layers


HYBRIDS: dict[str, Callable[[Fields], list[Layer]]] = {
    "qwen3_next": gated_delta_net,
    "qwen3_5_text": gated_delta_net,
    "kimi_linear": kimi_linear,
    "minimax": lightning,
    "jamba": jamba,
    "bamba": bamba,
    "mamba": mamba,
    "mamba2": mamba2,
}

"""Bytes and layers in words, the same wherever they are shown."""

from __future__ import annotations

from math import log2

from attnviz.kv_cache.layers import Cross, Full, Latent, Layer, Linear, Shared, Sliding
from attnviz.kv_cache.spec import CacheSpec

_UNITS = ("KiB", "MiB", "GiB", "TiB", "PiB")


def readable(count: int | float) -> str:
    """Bytes with a binary unit and three digits or more: 27.4 GiB, 1,012 MiB, 512 bytes."""
    if count < 1024:
        return f"{count:g} byte{'' if count == 1 else 's'}"
    power = min(int(log2(count)) // 10, len(_UNITS))
    value = count / 1024**power
    digits = 2 if value < 10 else 1 if value < 100 else 0
    return f"{value:,.{digits}f} {_UNITS[power - 1]}"


def stores(layer: Layer) -> str:
    """What a layer keeps, in a few words with its dimensions."""
    if isinstance(layer, Full):
        heads = f"{layer.n_kv_heads} KV head{'' if layer.n_kv_heads == 1 else 's'} × "
        same = layer.value_dim == layer.head_dim
        width = f"{layer.head_dim}" if same else f"({layer.head_dim} + {layer.value_dim}) / 2"
        what = f"keys and values, {heads}{width}"
        if isinstance(layer, Sliding):
            return f"{what}, of the last {layer.window:,} tokens"
        return f"{what}, of the encoder's tokens" if isinstance(layer, Cross) else what
    if isinstance(layer, Latent):
        index = f" + index key {layer.index_head_dim}" if layer.index_head_dim else ""
        return f"latent {layer.kv_lora_rank} + rotary key {layer.qk_rope_head_dim}{index}"
    if isinstance(layer, Linear):
        state = " × ".join(map(str, layer.state_shape))
        tail = f" and {layer.conv_kernel - 1} convolution columns" if layer.conv_channels else ""
        return f"{layer.mixer}: a state of {state}{tail}"
    if isinstance(layer, Shared):
        source = "an earlier layer" if layer.source is None else f"layer {layer.source}"
        return f"nothing: it reads the keys and values of {source}"
    return "nothing"


def stack(spec: CacheSpec) -> tuple[str, ...]:
    """A line for each different layer: how many, of which kind, storing what."""
    return tuple(f"{count} {layer.kind}: {stores(layer)}" for layer, count in spec.groups)

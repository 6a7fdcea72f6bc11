"""What the browser needs to count by itself: layers, settings, sliders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attnviz.figures.kv_stack import KINDS
from attnviz.kv_cache import CacheSpec, Full, Latent, Layer, Linear, Size, Sliding
from attnviz.kv_cache.accountings import Paged, Transformers
from attnviz.kv_cache.dtypes import bits_of

FARTHEST = 2**20


def group(layer: Layer, count: int = 1) -> dict[str, Any]:
    """Layers of one kind, as web/types.js describes them."""
    fields: dict[str, Any] = {"kind": layer.kind, "count": count}
    if isinstance(layer, Full):
        fields |= {"heads": layer.n_kv_heads, "dk": layer.head_dim, "dv": layer.value_dim}
        if isinstance(layer, Sliding):
            fields["window"] = layer.window
    elif isinstance(layer, Latent):
        fields |= {"rank": layer.kv_lora_rank, "rope": layer.qk_rope_head_dim}
        fields["index"] = layer.index_head_dim
    elif isinstance(layer, Linear):
        fields |= {"state": list(layer.state_shape), "channels": layer.conv_channels}
        fields |= {"kernel": layer.conv_kernel, "mixer": layer.mixer}
    return fields


def groups(spec: CacheSpec) -> list[dict[str, Any]]:
    return [group(layer, count) for layer, count in spec.groups]


def settings(size: Size) -> dict[str, Any]:
    """Widths in eighths of a bit: 4.125 bits are 33 of them."""
    rules = size.rules
    layout = rules.engine if isinstance(rules, Paged) else None
    return {
        "length": size.length,
        "batch": size.batch,
        "bits": int(8 * bits_of(size.dtype)),
        "stateBits": int(8 * bits_of(size.state_dtype)),
        "source": size.encoder_length,
        "accounting": size.accounting,
        "decoded": rules.decoded if isinstance(rules, Transformers) else 0,
        "block": layout.block_size if layout else 1,
        "ranks": layout.tensor_parallel if layout else 1,
        "batched": layout.max_batched_tokens if layout else 1,
        "fp8": size.dtype == "float8",
        "modelType": size.spec.model_type,
        "nHeads": size.spec.n_heads,
    }


def payload(
    size: Size,
    sliders: Sequence[Any],
    *,
    own: Mapping[str, Any] | None,
    others: Sequence[CacheSpec],
    free_bytes: int,
    dark: bool,
) -> dict[str, Any]:
    """web/types.js: Payload."""
    spec = size.spec
    places = {layer: place for place, (layer, _count) in enumerate(spec.groups)}
    order: dict[int, list[int]] = {index: [] for index in spec.indices}
    for index, layer in zip(spec.indices, spec.layers, strict=True):
        order[index].append(places[layer])
    stated = [each.max_context or 0 for each in (spec, *others)]
    return {
        "name": spec.name,
        "groups": None if own else groups(spec),
        "shape": own,
        "order": list(order.values()),
        "others": [{"name": each.name, "groups": groups(each)} for each in others],
        "settings": settings(size),
        "sliders": [vars(slider) | {"values": list(slider.values)} for slider in sliders],
        "free": free_bytes,
        "farthest": max(*stated, FARTHEST),
        "colours": {kind: list(pair) for kind, pair in KINDS.items()},
        "dark": dark,
    }

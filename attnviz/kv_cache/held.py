"""How transformers keeps a cache (5.24), as rules: read in its source, held to it by measurement.

Where they differ from the papers' formulas:

- a sliding layer keeps W - 1 tokens, for the next query brings the W-th; after the prompt these
  are a view, so that the whole prompt stays in memory until the first decoding step;
- a short convolution keeps K columns, theory K - 1;
- MiniMax keeps its states in the model's dtype; other states are float32 (state_dtype);
- Falcon's new decoder copies keys and values to every query head before it caches them.
"""

from __future__ import annotations

from dataclasses import replace

from attnviz.errors import AttnvizError
from attnviz.kv_cache.layers import Full, Layer, Linear, Sliding

DTYPES = ("float32", "bfloat16", "float16")
"""A DynamicCache has the model's dtype."""


def as_kept(layer: Layer, model_type: str | None, n_heads: int | None) -> Layer:
    """The layer whose theory is what transformers keeps of this one (nominal bytes)."""
    if isinstance(layer, Sliding):
        if layer.window == 1:
            raise AttnvizError(
                "transformers keeps W - 1 tokens of a window, which a window of 1 leaves "
                "undefined; choose one of 2 or more."
            )
        return replace(layer, window=layer.window - 1)
    if isinstance(layer, Linear) and layer.conv_channels:
        return replace(layer, conv_kernel=layer.conv_kernel + 1)
    if model_type == "falcon" and type(layer) is Full and layer.n_kv_heads > 1 and n_heads:
        return replace(layer, n_kv_heads=n_heads)
    return layer


def alive(layer: Layer, kept: Layer, length: int, decoded: int) -> Layer:
    """The layer whose theory is the memory kept alive: more than is kept, right after a prompt."""
    if not isinstance(layer, Sliding):
        return kept
    if not decoded:
        return Full(layer.n_kv_heads, layer.head_dim, layer.v_head_dim)
    return replace(layer, window=layer.window)


def differences(model_type: str | None, layers: tuple[Layer, ...]) -> tuple[str, ...]:
    """A sentence for each rule that applies to this model."""
    kinds = {type(layer) for layer in layers}
    found = []
    if Sliding in kinds:
        found += [
            "A sliding layer keeps W − 1 tokens: the next query brings the W-th.",
            "Right after the prompt the kept tokens are a view of it: all of it stays in memory "
            "until the first decoding step (held bytes).",
        ]
    if any(isinstance(layer, Linear) and layer.conv_channels for layer in layers):
        found.append("A convolution keeps K columns, where K − 1 would do.")
    if Linear in kinds:
        found.append(
            "MiniMax keeps its states in the model's dtype."
            if model_type == "minimax"
            else "Recurrent states are float32 whatever the model's dtype."
        )
    if model_type == "falcon":
        found.append("Falcon's new decoder caches keys and values once for every query head.")
    return tuple(found)

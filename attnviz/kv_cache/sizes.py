"""From a spec to bytes, by the papers' formulas."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from attnviz.errors import AttnvizError
from attnviz.kv_cache.checks import whole
from attnviz.kv_cache.dtypes import bits_of, whole_bytes
from attnviz.kv_cache.layers import Layer
from attnviz.kv_cache.spec import CacheSpec

ACCOUNTINGS = ("theory",)


@dataclass(frozen=True)
class LayerSize:
    """One layer's share. total_bytes counts the whole batch, the rest one sequence of it."""

    index: int  # the model's layer
    kind: str
    total_bytes: int
    fixed_bytes: int
    bytes_per_token: int | float
    tensors: tuple[tuple[str, int], ...]  # name, bytes


@dataclass(frozen=True)
class Size:
    """The bytes of a cache, and how they were counted.

    For one sequence, fixed_bytes + bytes_per_token * length are its bytes (up to rounding to
    whole bytes where an element has fewer than 8 bits); total_bytes is that times batch.
    fixed_bytes are the parts that one more token does not enlarge: recurrent states,
    cross-attention, and sliding windows that are already full. bytes_per_token is what the next
    token of one sequence adds: whole bytes as an int, else an exact float.
    """

    total_bytes: int
    sequence_bytes: int
    fixed_bytes: int
    bytes_per_token: int | float
    spec: CacheSpec
    length: int
    batch: int
    dtype: str
    state_dtype: str
    encoder_length: int
    accounting: str

    @cached_property
    def by_layer(self) -> tuple[LayerSize, ...]:
        """Each layer in order; their total_bytes sum to this total_bytes."""
        measured = {layer: self._layer(layer) for layer, _count in self.spec.groups}
        return tuple(
            LayerSize(index, layer.kind, *measured[layer])
            for index, layer in zip(self.spec.indices, self.spec.layers, strict=True)
        )

    def _layer(self, layer: Layer) -> tuple[int, int, int | float, tuple[tuple[str, int], ...]]:
        cache, state = bits_of(self.dtype), bits_of(self.state_dtype)
        tensors = layer_tensors(layer, self.length, self.encoder_length, cache, state)
        total = sum(size for _name, size in tensors)
        fixed = 0 if layer.grows(self.length) else total
        growth = _bytes_of(growth_bits(layer, self.length, cache))
        return self.batch * total, fixed, growth, tensors


def layer_tensors(
    layer: Layer, length: int, encoder_length: int, cache_bits: int, state_bits: int
) -> tuple[tuple[str, int], ...]:
    """Name and bytes of each tensor that a layer holds for one sequence."""
    return tuple(
        (part.name, whole_bytes(part.elements, state_bits if part.width == "state" else cache_bits))
        for part in layer.stored(length, encoder_length)
    )


def growth_bits(layer: Layer, length: int, cache_bits: int) -> int:
    """Bits that the next token of one sequence adds to a layer."""
    if not layer.grows(length):
        return 0
    return cache_bits * sum(part.elements for part in layer.stored(1, 0))


def _bytes_of(bits: int) -> int | float:
    return bits / 8 if bits % 8 else bits // 8


def size(
    spec: CacheSpec,
    length: int,
    batch: int = 1,
    dtype: str = "bfloat16",
    state_dtype: str = "float32",
    encoder_length: int | None = None,
    accounting: str = "theory",
) -> Size:
    """The bytes that a spec's cache takes once `length` tokens of each sequence are in it.

    dtype is that of keys, values, latents and convolution columns; state_dtype that of recurrent
    states. Each tensor of each sequence is rounded up to whole bytes. encoder_length is needed
    where there is cross-attention; 0 leaves that part out.

    >>> import attnviz as av
    >>> z = av.kv_cache.size(av.kv_cache.preset("deepseek-v3"), length=4096)
    >>> z.total_bytes, z.fixed_bytes, z.bytes_per_token
    (287834112, 0, 70272)
    """
    if not isinstance(spec, CacheSpec):
        raise AttnvizError(
            f"Expected a CacheSpec, such as kv_cache.preset('llama-3-8b'), not "
            f"{type(spec).__name__}."
        )
    if accounting not in ACCOUNTINGS:
        raise AttnvizError(
            f"Expected accounting 'theory', the only one there is so far, not {accounting!r}."
        )
    tokens = whole("length (the context in tokens)", length, least=0)
    sequences = whole("batch", batch)
    cache, state = bits_of(dtype), bits_of(state_dtype)
    source = _encoder_length(spec, encoder_length)

    fixed, growing, bits_per_token = 0, 0, 0
    for layer, count in spec.groups:
        held = count * sum(n for _name, n in layer_tensors(layer, tokens, source, cache, state))
        if layer.grows(tokens):
            growing += held
            bits_per_token += count * growth_bits(layer, tokens, cache)
        else:
            fixed += held
    return Size(
        total_bytes=sequences * (fixed + growing),
        sequence_bytes=fixed + growing,
        fixed_bytes=fixed,
        bytes_per_token=_bytes_of(bits_per_token),
        spec=spec,
        length=tokens,
        batch=sequences,
        dtype=dtype,
        state_dtype=state_dtype,
        encoder_length=source,
        accounting=accounting,
    )


def _encoder_length(spec: CacheSpec, encoder_length: int | None) -> int:
    if encoder_length is not None:
        return whole("encoder_length", encoder_length, least=0)
    if spec.has_encoder:
        raise AttnvizError(
            f"{spec.name} also caches its encoder's keys and values: pass encoder_length, the "
            "tokens the encoder reads (0 counts the decoder's own part alone)."
        )
    return 0

"""From a spec to bytes, under one of the three accountings."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from attnviz.errors import AttnvizError
from attnviz.kv_cache.accountings import (
    ACCOUNTINGS,
    Accounting,
    Paged,
    Tensors,
    Theory,
    Transformers,
)
from attnviz.kv_cache.checks import whole
from attnviz.kv_cache.dtypes import bits_of, plain
from attnviz.kv_cache.engine import Engine
from attnviz.kv_cache.layers import Layer
from attnviz.kv_cache.spec import CacheSpec


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

    For one sequence in theory, fixed_bytes + bytes_per_token * length are its bytes (up to
    rounding to whole bytes where an element has fewer than 8 bits); total_bytes is that times
    batch. fixed_bytes are the parts that one more token does not enlarge: recurrent states,
    cross-attention, and sliding windows that are already full. bytes_per_token is what the next
    token of one sequence adds: whole bytes as an int, else an exact float. held_bytes, in the
    transformers accounting, is the memory kept alive for the batch; else None. In the engine
    accounting every number is one GPU's, and a token's share of its page.
    """

    total_bytes: int
    held_bytes: int | None
    sequence_bytes: int
    fixed_bytes: int
    bytes_per_token: int | float
    spec: CacheSpec
    length: int
    batch: int
    dtype: str
    state_dtype: str
    encoder_length: int
    rules: Accounting

    @property
    def accounting(self) -> str:
        return self.rules.name

    @cached_property
    def by_layer(self) -> tuple[LayerSize, ...]:
        """Each layer in order; their total_bytes sum to this total_bytes."""
        measured = {layer: self._layer(layer) for layer, _count in self.spec.groups}
        return tuple(
            LayerSize(index, layer.kind, *measured[layer])
            for index, layer in zip(self.spec.indices, self.spec.layers, strict=True)
        )

    def _layer(self, layer: Layer) -> tuple[int, int, int | float, Tensors]:
        tensors = self.rules.tensors(layer, self.length, self.encoder_length)
        total = sum(size for _name, size in tensors)
        growth = self.rules.growth(layer, self.length)
        return self.batch * total, 0 if growth else total, plain(Fraction(growth)), tensors


def size(
    spec: CacheSpec,
    length: int,
    batch: int = 1,
    dtype: str = "bfloat16",
    state_dtype: str = "float32",
    encoder_length: int | None = None,
    accounting: str = "theory",
    *,
    decoded: int = 0,
    block_size: int = 16,
    tensor_parallel: int = 1,
    max_batched_tokens: int = 8192,
) -> Size:
    """The bytes that a spec's cache takes once `length` tokens of each sequence are in it.

    dtype is that of keys, values, latents and convolution columns; state_dtype that of recurrent
    states. Each tensor of each sequence is rounded up to whole bytes. encoder_length is needed
    where there is cross-attention; 0 leaves that part out. accounting is theory, transformers
    (decoded: how many of the tokens came after the prompt) or engine (block_size,
    tensor_parallel, max_batched_tokens; bytes of one GPU).

    >>> import attnviz as av
    >>> z = av.kv_cache.size(av.kv_cache.preset("deepseek-v3"), length=4096)
    >>> z.total_bytes, z.fixed_bytes, z.bytes_per_token
    (287834112, 0, 70272)
    >>> spec = av.kv_cache.preset("mistral-7b-v0.1")
    >>> av.kv_cache.size(spec, length=8192, accounting="transformers").total_bytes
    536739840
    """
    if not isinstance(spec, CacheSpec):
        raise AttnvizError(
            f"Expected a CacheSpec, such as kv_cache.preset('llama-3-8b'), not "
            f"{type(spec).__name__}."
        )
    if accounting not in ACCOUNTINGS:
        raise AttnvizError(
            f"Expected accounting {', '.join(ACCOUNTINGS[:-1])} or {ACCOUNTINGS[-1]}, not "
            f"{accounting!r}."
        )
    tokens = whole("length (the context in tokens)", length, least=0)
    sequences = whole("batch", batch)
    for each in (dtype, state_dtype):
        bits_of(each)  # refuses what it does not know
    source = _encoder_length(spec, encoder_length)
    rules: Accounting = Theory(dtype, state_dtype)
    if accounting == Transformers.name:
        rules = _transformers(spec, dtype, state_dtype, decoded)
    elif accounting == Paged.name:
        layout = Engine(block_size, tensor_parallel, max_batched_tokens)
        rules = Paged(dtype, state_dtype, layout)

    fixed, growing, per_token, alive = 0, 0, Fraction(0), 0
    for layer, count in spec.groups:
        held = count * sum(n for _name, n in rules.tensors(layer, tokens, source))
        growth = rules.growth(layer, tokens)
        per_token += count * growth
        fixed, growing = (fixed, growing + held) if growth else (fixed + held, growing)
        alive += count * (rules.held(layer, tokens, source) or 0)
    return Size(
        total_bytes=sequences * (fixed + growing),
        held_bytes=sequences * alive if accounting == Transformers.name else None,
        sequence_bytes=fixed + growing,
        fixed_bytes=fixed,
        bytes_per_token=plain(per_token),
        spec=spec,
        length=tokens,
        batch=sequences,
        dtype=dtype,
        state_dtype=state_dtype,
        encoder_length=source,
        rules=rules,
    )


def _transformers(spec: CacheSpec, dtype: str, state_dtype: str, decoded: int) -> Transformers:
    if spec.model_type is None:
        raise AttnvizError(
            f"What transformers would keep for {spec.name} is not known: it names no architecture "
            "of that library. Use the theory accounting, or CacheSpec.from_config."
        )
    return Transformers(dtype, state_dtype, spec.model_type, spec.n_heads, decoded)


def _encoder_length(spec: CacheSpec, encoder_length: int | None) -> int:
    if encoder_length is not None:
        return whole("encoder_length", encoder_length, least=0)
    if spec.has_encoder:
        raise AttnvizError(
            f"{spec.name} also caches its encoder's keys and values: pass encoder_length, the "
            "tokens the encoder reads (0 counts the decoder's own part alone)."
        )
    return 0

"""CacheSpec: a model's cache as a list of layers, never as scalars."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from attnviz.errors import AttnvizError
from attnviz.kv_cache.layers import KINDS, Layer


@dataclass(frozen=True)
class Provenance:
    """Where a preset's dimensions come from, and what is easily got wrong about it."""

    source: str
    confidence: str
    notes: tuple[str, ...] = ()
    traps: tuple[str, ...] = ()
    hub_id: str | None = None
    model_type: str | None = None


@dataclass(frozen=True)
class CacheSpec:
    """The layers of a model, and what each keeps.

    indices[i] is the model's layer that layers[i] belongs to: a decoder layer with self- and
    cross-attention, or with two mixers, appears twice with one index. n_heads, head_dim and
    max_context describe the model for comparisons; no size in theory depends on them.
    """

    layers: tuple[Layer, ...]
    indices: tuple[int, ...]
    name: str = "own design"
    slug: str | None = None
    n_heads: int | None = None
    head_dim: int | None = None
    max_context: int | None = None
    provenance: Provenance | None = None
    model_type: str | None = None  # the transformers architecture, where one holds this cache
    config: Any = field(default=None, compare=False, repr=False)  # what from_config read

    @classmethod
    def from_layers(
        cls,
        layers: Iterable[Any],
        *,
        name: str = "own design",
        n_heads: int | None = None,
        head_dim: int | None = None,
        max_context: int | None = None,
    ) -> CacheSpec:
        """A spec by hand. Each entry is a layer, a mapping with its kind, or a tuple of these.

        >>> from attnviz.kv_cache import CacheSpec, Full, Sliding
        >>> spec = CacheSpec.from_layers([Sliding(8, 64, window=128), Full(8, 64)] * 12)
        >>> spec.n_layers, spec.counts
        (24, {'sliding': 12, 'full': 12})
        >>> CacheSpec.from_layers([{"kind": "full", "n_kv_heads": 8, "head_dim": 64}]).layers
        (Full(n_kv_heads=8, head_dim=64, v_head_dim=None),)
        """
        flat: list[Layer] = []
        indices: list[int] = []
        for index, entry in enumerate(layers):
            for part in entry if isinstance(entry, (tuple, list)) else (entry,):
                flat.append(_layer(part))
                indices.append(index)
        if not flat:
            raise AttnvizError("A cache spec needs at least one layer, and none was given.")
        return cls(tuple(flat), tuple(indices), name, None, n_heads, head_dim, max_context)

    @classmethod
    def from_config(cls, config: Any, *, name: str | None = None) -> CacheSpec:
        """From a transformers config object or the mapping in a config.json.

        The per-layer pattern and an explicit head_dim are honoured. A model type whose cache is
        not known here is refused by name.
        """
        from attnviz.kv_cache.families import spec_from_config

        spec = spec_from_config(config)
        return replace(spec, name=name) if name else spec

    @property
    def n_layers(self) -> int:
        """Layers of the model, one that appears twice counted once."""
        return len(set(self.indices))

    @cached_property
    def groups(self) -> tuple[tuple[Layer, int], ...]:
        """Each different layer with the number of times it occurs, in order of appearance."""
        return tuple(Counter(self.layers).items())

    @cached_property
    def counts(self) -> dict[str, int]:
        """Occurrences of each kind, in order of appearance."""
        return dict(Counter(layer.kind for layer in self.layers))

    @property
    def has_encoder(self) -> bool:
        """Does part of the cache follow the encoder's length?"""
        return "cross" in self.counts


def _layer(entry: Any) -> Layer:
    if isinstance(entry, Layer):
        return entry
    if not isinstance(entry, Mapping):
        raise AttnvizError(
            f"Each layer must be a layer or a mapping with its kind, not {type(entry).__name__}."
        )
    values = dict(entry)
    kind = values.pop("kind", None)
    if not isinstance(kind, str) or kind not in KINDS:
        raise AttnvizError(f"A layer's kind must be one of {', '.join(KINDS)}, not {kind!r}.")
    if "state_shape" in values:
        values["state_shape"] = tuple(values["state_shape"])
    try:
        return KINDS[kind](**values)
    except TypeError as problem:
        detail = str(problem).split("__init__()")[-1].strip()
        raise AttnvizError(f"A {kind} layer could not be made: {detail}.") from None

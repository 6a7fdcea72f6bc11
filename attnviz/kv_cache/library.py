"""The presets: real models' caches, by name.

presets.json holds dimensions and layer patterns only; every byte is computed from them. A pattern
such as "3L 1M" reads: three layers as described under L, then one as under M.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Any

from attnviz.errors import AttnvizError
from attnviz.kv_cache.spec import CacheSpec, Provenance

_FILE = Path(__file__).with_name("presets.json")
_HELD_BY = {"kimi-k3": "kimi_linear", "gpt-3-175b": "gpt2", "qwen3.5-27b": "qwen3_5_text"}
"""The architecture in transformers that holds the same cache, where the model's own is absent."""
_RUN = re.compile(r"(\d+)([A-Z])")


@lru_cache(maxsize=1)
def presets() -> tuple[CacheSpec, ...]:
    """Every preset, in the file's order (by family)."""
    return tuple(_spec(entry) for entry in json.loads(_FILE.read_text(encoding="utf-8")))


@lru_cache(maxsize=1)
def _by_slug() -> dict[str, CacheSpec]:
    return {str(spec.slug): spec for spec in presets()}


def preset(slug: str) -> CacheSpec:
    """The cache of a known model.

    >>> from attnviz import kv_cache
    >>> kv_cache.preset("gemma-3-1b").counts
    {'sliding': 22, 'full': 4}
    """
    specs = _by_slug()
    if not isinstance(slug, str) or slug not in specs:
        near = get_close_matches(str(slug), specs, n=3, cutoff=0.4)
        hint = f"did you mean {' or '.join(near)}?" if near else "kv_cache.presets() lists them."
        raise AttnvizError(f"There is no preset {slug!r}: {hint}")
    return specs[slug]


def _spec(entry: dict[str, Any]) -> CacheSpec:
    layers = [
        tuple(entry["layers"][letter])
        for count, letter in _RUN.findall(entry["pattern"])
        for _ in range(int(count))
    ]
    spec = CacheSpec.from_layers(
        layers,
        name=entry["name"],
        n_heads=entry["n_heads"],
        head_dim=entry["head_dim"],
        max_context=entry["max_context"],
    )
    provenance = Provenance(
        source=entry["source"],
        confidence=entry["confidence"],
        notes=tuple(entry["notes"]),
        traps=tuple(entry["traps"]),
        hub_id=entry["hub_id"],
        model_type=entry["model_type"],
    )
    stated = (entry["model_type"] or "").split(" ")[0]
    known = _HELD_BY.get(entry["slug"], stated) or None
    return replace(spec, slug=entry["slug"], provenance=provenance, model_type=known)

"""Which layers of a stack keep a cache (F) and which a state (L), and with which mixers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import gcd

from attnviz import variants
from attnviz.errors import AttnvizError
from attnviz.kv_cache import CacheSpec
from attnviz.kv_cache import preset as cache_preset
from attnviz.kv_cache.layers import Full, Latent, Layer, Linear

MOST_LAYERS = 128
FULL = ("grouped_query", "multi_head", "latent")
"""Mixers that keep something of every token."""


def linear_mixers() -> tuple[str, ...]:
    """Mixers that keep a state of one size."""
    return tuple(name for name in variants.names() if variants.find(name).recurrence is not None)


@dataclass(frozen=True)
class Pattern:
    """The layers of a stack in order, and the variant behind each letter."""

    letters: str  # "LLLF"
    linear: str = "gated_delta_rule"
    full: str = "grouped_query"

    def __post_init__(self) -> None:
        if not self.letters or set(self.letters) - set("LF"):
            raise AttnvizError(
                f"A stack is written with the letters L (a state) and F (full attention), such as "
                f"'LLLF' or '3L F'; received {self.letters!r}."
            )
        if len(self.letters) > MOST_LAYERS:
            raise AttnvizError(
                f"A stack has at most {MOST_LAYERS} layers here; received {len(self.letters)}."
            )
        for word, chosen, known in (
            ("linear", self.linear, linear_mixers()),
            ("full", self.full, FULL),
        ):
            if chosen not in known:
                raise AttnvizError(
                    f"{word} must be one of {', '.join(known)}; received {chosen!r}."
                )

    @classmethod
    def of(cls, written: str, *, n_layers: int | None = None, **mixers: str) -> Pattern:
        """From what a person writes: "LLLF", "3L F", "7L1F"; repeated until n_layers are there."""
        text = re.sub(r"[\s,+]", "", written).upper()
        parts = re.findall(r"(\d*)([LF])", text)
        # Any digits too many would be a number that no machine can repeat by.
        if "".join(n + letter for n, letter in parts) != text or any(len(n) > 3 for n, _ in parts):
            raise AttnvizError(
                f"A stack is written with L (a state) and F (full attention), each with a number "
                f"before it if it stands several times, such as '3L F'; received {written!r}."
            )
        unit = "".join(letter * int(n or 1) for n, letter in parts)
        if n_layers is not None and unit:
            if isinstance(n_layers, bool) or not 1 <= n_layers <= MOST_LAYERS:
                raise AttnvizError(
                    f"n_layers must be a whole number from 1 to {MOST_LAYERS}; received "
                    f"{n_layers!r}."
                )
            unit = (unit * n_layers)[:n_layers]
        return cls(unit, **mixers)

    @property
    def mixers(self) -> tuple[str, ...]:
        """The variant of each layer."""
        return tuple(self.full if letter == "F" else self.linear for letter in self.letters)

    @property
    def first_full(self) -> int:
        """The first layer with a cache, or 0 where there is none."""
        return max(0, self.letters.find("F"))

    @property
    def ratio(self) -> str:
        """How many layers with a state there are for each with a cache: "3:1", "69:24"."""
        states, caches = self.letters.count("L"), self.letters.count("F")
        shared = gcd(states, caches)
        return f"{states // shared}:{caches // shared}"


PRESETS: Mapping[str, tuple[str, str]] = {
    "kimi-k3": ("kimi_delta", "latent"),
    "kimi-linear-48b-a3b": ("kimi_delta", "latent"),
    "qwen3-next-80b-a3b": ("gated_delta_rule", "grouped_query"),
    "minimax-text-01": ("lightning", "grouped_query"),
    "jamba-v0.1": ("mamba2", "grouped_query"),
}
"""The models whose order of layers is taken, and the mixers that stand for theirs here. Jamba's
own is Mamba-1, and Kimi K3's latent attention has a gate."""


def preset(slug: str) -> Pattern:
    """The order of layers of a model, by its name among the KV cache's presets."""
    if slug not in PRESETS:
        raise AttnvizError(f"There is no stack {slug!r}; known are {', '.join(PRESETS)}.")
    linear, full = PRESETS[slug]
    kinds = (layer.kind for layer in cache_preset(slug).layers)
    return Pattern("".join("L" if kind == "linear" else "F" for kind in kinds), linear, full)


def cache_of(pattern: Pattern, sizes: Mapping[str, int]) -> CacheSpec:
    """What the stack keeps between tokens, for the KV cache's sizes, formulas and charts.

    sizes: d_model, n_heads, n_kv_heads, head_dim (and v_head_dim).
    """
    return CacheSpec.from_layers(
        [_kept(name, sizes) for name in pattern.mixers],
        name={"L": "all states", "F": "all caches"}.get("".join(set(pattern.letters)))
        or f"hybrid {pattern.ratio}",
        n_heads=sizes["n_heads"],
        head_dim=sizes["head_dim"],
    )


def _kept(name: str, sizes: Mapping[str, int]) -> Layer:
    d_k, d_v = sizes["head_dim"], sizes.get("v_head_dim", sizes["head_dim"])
    variant = variants.find(name)
    if variant.recurrence is not None:
        shape = (sizes["n_heads"], d_k, d_v + variant.normalised)
        return Linear(shape, mixer=variant.title)
    if name == "latent":
        own = variant.dimensions(sizes["d_model"], n_heads=sizes["n_heads"], head_dim=d_k)
        return Latent(own["kv_lora_rank"], own["qk_rope_head_dim"])
    heads = sizes["n_heads"] if name == "multi_head" else sizes["n_kv_heads"]
    return Full(heads, d_k, d_v)

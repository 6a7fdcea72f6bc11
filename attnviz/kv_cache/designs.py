"""Designs of one's own: the same stack with another kind of attention in each layer.

Ainslie et al. 2023 call the KV heads of grouped-query attention its groups: as many groups as
heads is multi-head attention, one is multi-query attention.
"""

from __future__ import annotations

from fractions import Fraction

from attnviz.errors import AttnvizError
from attnviz.kv_cache.checks import MOST_HEADS, MOST_LAYERS, whole
from attnviz.kv_cache.fields import grouped
from attnviz.kv_cache.layers import Cross, Full, Latent, Layer, Linear, Sliding
from attnviz.kv_cache.spec import CacheSpec


def grouped_query(
    n_layers: int,
    n_heads: int,
    n_kv_heads: int,
    head_dim: int,
    *,
    window: int = 1024,
    ratio: int = 0,
    name: str | None = None,
) -> CacheSpec:
    """n_layers of grouped-query attention; n_kv_heads must share out n_heads evenly.

    ratio: layers within a window before each full one, 5 in Gemma 3; 0: all are full.
    """
    grouped(n_heads, n_kv_heads)
    made = group_name(n_heads, n_kv_heads) + (f", {ratio}:1 windows" if ratio else "")
    full, sliding = Full(n_kv_heads, head_dim), Sliding(n_kv_heads, head_dim, window=window)
    return CacheSpec.from_layers(
        _interleaved(n_layers, ratio, sliding, full),
        name=name or made,
        n_heads=n_heads,
        head_dim=head_dim,
    )


def latent_attention(
    n_layers: int,
    n_heads: int,
    head_dim: int,
    kv_lora_rank: int,
    qk_rope_head_dim: int,
    *,
    ratio: int = 0,
    name: str | None = None,
) -> CacheSpec:
    """n_layers of multi-head latent attention; its cache does not depend on the heads.

    ratio: layers with a state of heads x head_dim x head_dim before each latent one, 3 in Kimi
    Linear; 0: all are latent.
    """
    whole("The number of heads", n_heads, most=MOST_HEADS)
    whole("head_dim", head_dim)
    made = f"MLA {kv_lora_rank}+{qk_rope_head_dim}" + (f", {ratio}:1 states" if ratio else "")
    latent = Latent(kv_lora_rank, qk_rope_head_dim)
    return CacheSpec.from_layers(
        _interleaved(n_layers, ratio, Linear((n_heads, head_dim, head_dim)), latent),
        name=name or made,
        n_heads=n_heads,
        head_dim=head_dim,
    )


def _interleaved(n_layers: int, ratio: int, cheaper: Layer, other: Layer) -> list[Layer]:
    """`ratio` layers of the cheaper kind, then one of the other, until there are n_layers."""
    count = whole("The number of layers", n_layers, most=MOST_LAYERS)
    every = whole("ratio", ratio, 0, MOST_LAYERS) + 1
    return [cheaper if (index + 1) % every else other for index in range(count)]


def group_name(n_heads: int, n_kv_heads: int) -> str:
    if n_kv_heads == 1:
        return "MQA"
    return "MHA" if n_kv_heads == n_heads else f"GQA-{n_kv_heads}"


def equal_groups(kv_lora_rank: int, qk_rope_head_dim: int, head_dim: int) -> float:
    """How many KV heads would make GQA's cache as large as this MLA's: (d_c + d_h^R) / (2 d_h).

    DeepSeek-V2, section 2.1.4: 2.25 for 512, 64 and 128. Equal bytes do not make one the other.
    """
    latent = whole("kv_lora_rank", kv_lora_rank) + whole("qk_rope_head_dim", qk_rope_head_dim, 0)
    return float(Fraction(latent, 2 * whole("head_dim", head_dim)))


def divisors(number: int) -> tuple[int, ...]:
    """What divides a number of heads: the group counts there can be."""
    most = whole("The number of heads", number, most=MOST_HEADS)
    return tuple(n for n in range(1, most + 1) if number % n == 0)


def alternatives(spec: CacheSpec) -> tuple[CacheSpec, ...]:
    """Every layer of a model's shape as MHA, GQA, MQA and MLA: same layers, heads and head_dim.

    GQA has 8 groups, or the most below 8 that divide the heads. MLA has DeepSeek-V2's
    proportions, d_c = 4 d_h and d_h^R = d_h / 2. Cross-attention follows the heads and has no
    MLA form. A model that caches nothing has no alternatives, nor has one of unknown shape.
    """
    if spec.n_heads is None or spec.head_dim is None or set(spec.counts) == {"none"}:
        return ()
    heads, width = spec.n_heads, spec.head_dim
    some = [n for n in divisors(heads) if 1 < n <= 8 and n < heads]
    groups = [heads, *some[-1:], 1] if heads > 1 else [1]
    specs = [_every_layer(spec, Full(n, width), group_name(heads, n)) for n in groups]
    if not spec.has_encoder:
        latent = Latent(4 * width, max(1, width // 2))
        specs.append(_every_layer(spec, latent, f"MLA {4 * width}+{max(1, width // 2)}"))
    return tuple(specs)


def _every_layer(spec: CacheSpec, layer: Layer, name: str) -> CacheSpec:
    crossed = set()
    if spec.has_encoder:
        pairs = zip(spec.indices, spec.layers, strict=True)
        crossed = {index for index, each in pairs if each.kind == "cross"}
        if not isinstance(layer, Full):
            raise AttnvizError("Cross-attention is compared with keys and values alone.")
    entries = [
        (layer, Cross(layer.n_kv_heads, layer.head_dim))
        if index in crossed and isinstance(layer, Full)
        else layer
        for index in dict.fromkeys(spec.indices)
    ]
    return CacheSpec.from_layers(
        entries,
        name=name,
        n_heads=spec.n_heads,
        head_dim=spec.head_dim,
        max_context=spec.max_context,
    )

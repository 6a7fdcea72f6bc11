"""Every number of the page as arithmetic with its own numbers, and where the rule is from."""

from __future__ import annotations

from dataclasses import dataclass, replace

from attnviz.kv_cache.accountings import Paged, Theory, Transformers
from attnviz.kv_cache.capacity import Room
from attnviz.kv_cache.dtypes import bits_of
from attnviz.kv_cache.formulas import formula
from attnviz.kv_cache.layers import Full, Latent, Layer
from attnviz.kv_cache.sizes import Size, size
from attnviz.kv_cache.spec import CacheSpec

SOURCES = {
    "theory": {
        "full": "Ainslie et al. 2023 (GQA), section 2.2",
        "sliding": "Beltagy et al. 2020, section 3.1; Jiang et al. 2023 (Mistral 7B), section 2",
        "latent": "DeepSeek-V2 (2024), section 2.1 and table 1",
        "linear": "Yang et al. 2024 (Gated DeltaNet); Gu and Dao 2023 (Mamba), section 3",
        "cross": "Vaswani et al. 2017, section 3.2.3",
    },
    "transformers": "transformers 5.24, cache_utils.py; measured under “Really allocated”",
    "engine": "vLLM, v1/kv_cache_interface.py",
}


@dataclass(frozen=True)
class Unfolded:
    """One number. expression is plain arithmetic that gives it."""

    name: str
    value: int | float
    expression: str
    source: str


def unfold(size: Size) -> tuple[Unfolded, ...]:
    """Total, fixed part, bytes a token and, where they are counted, held bytes."""
    source = _source(size)
    fixed = [layer for layer in size.spec.layers if not size.rules.growth(layer, size.length)]
    found = [
        Unfolded("Total", size.total_bytes, formula(size).plain, source),
        Unfolded("Fixed, per sequence", size.fixed_bytes, _part(size, fixed), source),
        Unfolded("Per token", size.bytes_per_token, _per_token(size), source),
    ]
    if size.held_bytes is not None:
        found.append(
            Unfolded(
                "Held by the library", size.held_bytes, _held(size), str(SOURCES["transformers"])
            )
        )
    return tuple(found)


def unfold_room(longest: Room, users: Room, each: Size, free_bytes: int) -> tuple[Unfolded, ...]:
    """What fits: the context by a search on the sizes themselves, the sequences by a division."""
    found = []
    if users.count is not None:
        expression = f"{free_bytes} // {each.sequence_bytes}"
        found.append(
            Unfolded("Sequences", users.count, expression, "what is free over one sequence's bytes")
        )
    if longest.count:
        found.append(
            Unfolded(
                "Longest context: its bytes",
                longest.used_bytes,
                formula(_at(each, longest.count)).plain,
                f"the largest T whose bytes are at most {free_bytes:,}; one more token needs "
                f"{_at(each, longest.count + 1).total_bytes:,}",
            )
        )
    return tuple(found)


def context_arithmetic(longest: Room, like: Size) -> str:
    """ "1 * (32 * 8 * ..) <= 85899345920", the bytes of the longest context; empty without one."""
    if not longest.count:
        return ""
    plain = " ".join(formula(_at(like, longest.count)).plain.split())
    return f"{plain} <= {longest.free_bytes}"


def _at(size_: Size, length: int) -> Size:
    return resized(size_, size_.spec, length)


def resized(like: Size, spec: CacheSpec, length: int) -> Size:
    """The size of another spec or length under the same settings."""
    options = {}
    if isinstance(like.rules, Paged):
        options = vars(like.rules.engine)
    elif not isinstance(like.rules, Theory):
        options = {"decoded": like.rules.decoded}
    return size(
        spec,
        length,
        like.batch,
        like.dtype,
        like.state_dtype,
        like.encoder_length,
        like.accounting,
        **options,
    )


def _source(size: Size) -> str:
    if size.accounting != "theory":
        return str(SOURCES[size.accounting])
    known = SOURCES["theory"]
    assert isinstance(known, dict)
    return "; ".join(known[kind] for kind in size.spec.counts if kind in known)


def _only(size_: Size, layers: list[Layer]) -> CacheSpec:
    spec = size_.spec
    made = CacheSpec.from_layers(layers, n_heads=spec.n_heads, head_dim=spec.head_dim)
    return replace(made, model_type=spec.model_type)


def _part(size_: Size, layers: list[Layer]) -> str:
    """One sequence's bytes of these layers alone."""
    if not layers:
        return "0"
    whole = formula(resized(size_, _only(size_, layers), size_.length)).plain
    return whole if whole == "0" else "(" + whole.split(" * (", 1)[1]


def _per_token(size_: Size) -> str:
    rules, terms = size_.rules, []
    for layer, count in size_.spec.groups:
        if not rules.growth(layer, size_.length):
            continue
        if isinstance(rules, Paged):
            parts = rules.engine.parts(layer, rules.dtype, rules.state_dtype)
            page = " + ".join(str(n) for _name, n in parts)
            terms.append(f"{count} * ({page}) / {rules.engine.block_size}")
            continue
        kept = layer if isinstance(rules, Theory) else rules.kept(layer)
        bits = f"{float(bits_of(size_.dtype)):g} / 8"
        if isinstance(kept, Full):
            widths = f"{kept.n_kv_heads} * ({kept.head_dim} + {kept.value_dim})"
        elif isinstance(kept, Latent):
            parts = (kept.kv_lora_rank, kept.qk_rope_head_dim, kept.index_head_dim)
            widths = "(" + " + ".join(str(width) for width in parts) + ")"
        else:
            raise TypeError(f"{type(layer).__name__} does not grow")
        terms.append(f"{count} * {widths} * {bits}")
    return " + ".join(terms) or "0"


def _held(size_: Size) -> str:
    """The same formula for the layers as they are kept alive: a prompt behind its window."""
    rules = size_.rules
    assert isinstance(rules, Transformers)
    layers = [rules.alive(layer, size_.length) for layer in size_.spec.layers]
    theory = size(
        CacheSpec.from_layers(layers),
        size_.length,
        size_.batch,
        rules.theory.dtype,
        rules.theory.state_dtype,
        size_.encoder_length,
    )
    return formula(theory).plain

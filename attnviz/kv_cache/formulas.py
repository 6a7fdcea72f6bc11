"""The formula behind a size, with the visitor's numbers in it.

Two forms: LaTeX to read, and a plain expression that any calculator takes. A test evaluates the
plain one and compares it with the bytes, which sizes.py counts tensor by tensor.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from attnviz.kv_cache.accountings import Paged, Theory, Transformers
from attnviz.kv_cache.dtypes import bits_of
from attnviz.kv_cache.layers import Cross, Full, Latent, Layer, Linear, Sliding
from attnviz.kv_cache.sizes import Size


@dataclass(frozen=True)
class Term:
    """One kind of layer's share of a sequence."""

    kind: str
    count: int  # layers
    symbols: str  # LaTeX
    numbers: str  # plain, a Python expression


@dataclass(frozen=True)
class Formula:
    """bytes = batch * sum of the terms."""

    terms: tuple[Term, ...]
    batch: int
    total_bytes: int
    legend: tuple[tuple[str, str], ...]  # LaTeX symbol, meaning and value in words

    @property
    def latex(self) -> str:
        """The general formula, a line a term."""
        if not self.terms:
            return r"\text{bytes} = 0"
        lines = r" \\ &\quad + ".join(term.symbols for term in self.terms)
        return (
            r"\begin{aligned} &\text{bytes} = B \times \big( \\ &\quad "
            + lines
            + r" \big) \end{aligned}"
        )

    @property
    def plain(self) -> str:
        """The same with numbers: valid Python, given ceil where an element has under 8 bits."""
        if not self.terms:
            return "0"
        lines = "\n    + ".join(term.numbers for term in self.terms)
        return f"{self.batch} * ({lines})"


def formula(size: Size) -> Formula:
    """How size.total_bytes comes about.

    >>> from attnviz import kv_cache as kv
    >>> print(kv.formula(kv.size(kv.preset("llama-2-70b"), length=4096)).plain)
    1 * (80 * 8 * (128 + 128) * 4096 * 2)
    """
    groups = [(layer, count) for layer, count in size.spec.groups if layer.stored(2, 2)]
    terms = tuple(_term(layer, count, size) for layer, count in groups)
    return Formula(terms, size.batch, size.total_bytes, _legend(size))


def _term(layer: Layer, count: int, size: Size) -> Term:
    rules = size.rules
    if isinstance(rules, Paged):
        return paged_term(layer, count, size.length, size.encoder_length, rules)
    theory = rules if isinstance(rules, Theory) else rules.theory
    kept = layer if isinstance(rules, Theory) else rules.kept(layer)
    less = kept != layer and isinstance(layer, Sliding)  # a window of one token less
    bits, state_bits = bits_of(theory.dtype), bits_of(theory.state_dtype)
    tensors = kept.stored(size.length, size.encoder_length)
    whole = all(tensor.elements * bits % 8 == 0 for tensor in tensors)
    name = rf"L_\mathrm{{{layer.kind}}}"
    if isinstance(kept, Full):
        tokens, symbol = _kept(kept, size, less)
        symbols = rf"{name} \, n_{{kv}} \, (d_k + d_v) \, {symbol} \, b"
        together = f"{kept.n_kv_heads} * ({kept.head_dim} + {kept.value_dim}) * {tokens}"
        apart = [f"{kept.n_kv_heads} * {d} * {tokens}" for d in (kept.head_dim, kept.value_dim)]
        numbers = _cache_bytes(together, apart, bits, whole)
    elif isinstance(kept, Latent):
        widths = [kept.kv_lora_rank, kept.qk_rope_head_dim, kept.index_head_dim]
        index = r" + d_\mathrm{index}" if kept.index_head_dim else ""
        symbols = rf"{name} \, (d_c + d_h^R{index}) \, T \, b"
        shown = " + ".join(str(width) for width in widths[: 3 if kept.index_head_dim else 2])
        apart = [f"{width} * {size.length}" for width in widths if width]
        numbers = _cache_bytes(f"({shown}) * {size.length}", apart, bits, whole)
    elif isinstance(kept, Linear):
        state = " * ".join(map(str, kept.state_shape))
        symbols = rf"{name} \, \big(s \, b_s"
        numbers = _width(state, state_bits, tensors[0].elements)
        if kept.conv_channels and kept.conv_kernel > 1:
            columns = "(K - 1)" if kept is layer else "K"
            symbols += rf" + c \, {columns} \, b"
            taps = f"({kept.conv_kernel} - 1)" if kept is layer else str(kept.conv_kernel - 1)
            numbers += " + " + _width(f"{kept.conv_channels} * {taps}", bits, tensors[1].elements)
        symbols += r"\big)"
        numbers = f"({numbers})"
    else:
        raise TypeError(f"no formula for {type(layer).__name__}")
    return Term(layer.kind, count, symbols, f"{count} * {numbers}")


def _kept(layer: Full, size: Size, less: bool) -> tuple[str, str]:
    """How many tokens a layer holds: as numbers, and as a LaTeX symbol."""
    if isinstance(layer, Sliding):
        if less:
            return f"min({size.length}, {layer.window + 1} - 1)", r"\min(T, W - 1)"
        return f"min({size.length}, {layer.window})", r"\min(T, W)"
    if isinstance(layer, Cross):
        return str(size.encoder_length), "S"
    return str(size.length), "T"


def paged_term(layer: Layer, count: int, length: int, encoder_length: int, rules: Paged) -> Term:
    """Layers times pages times the bytes of one page on one GPU."""
    engine, P = rules.engine, rules.engine.block_size
    page = " + ".join(str(n) for _name, n in engine.parts(layer, rules.dtype, rules.state_dtype))
    pages, symbol = f"ceil({length} / {P})", r"\lceil T / P \rceil"
    if isinstance(layer, Sliding):
        reach = f"{layer.window} - 1 + {engine.max_batched_tokens}"
        pages = f"(ceil(min({reach}, {length}) / {P}) + 1)"
        symbol = r"\big(\lceil \min(W - 1 + M, T) / P \rceil + 1\big)"
    elif isinstance(layer, Cross):
        pages, symbol = f"ceil({encoder_length} / {P})", r"\lceil S / P \rceil"
    elif isinstance(layer, Linear):
        pages, symbol = "1", "1"
    name = rf"L_\mathrm{{{layer.kind}}}"
    return Term(layer.kind, count, rf"{name} \, {symbol} \, p", f"{count} * {pages} * ({page})")


def _cache_bytes(together: str, apart: list[str], bits: int | Fraction, whole: bool) -> str:
    """All tensors of a layer in one product where each is whole bytes, else each rounded up."""
    if whole:
        return together + _times(bits)
    return "(" + " + ".join(f"ceil({part}{_times(bits)})" for part in apart) + ")"


def _width(product: str, bits: int | Fraction, elements: int) -> str:
    text = product + _times(bits)
    return text if elements * bits % 8 == 0 else f"ceil({text})"


def _times(bits: int | Fraction) -> str:
    return f" * {float(bits):g} / 8" if bits % 8 else f" * {int(bits) // 8}"


def _legend(size: Size) -> tuple[tuple[str, str], ...]:
    kinds = set(size.spec.counts)
    bits = bits_of(size.dtype)
    width = f"{float(bits) / 8:g} byte{'' if bits == 8 else 's'}"
    if isinstance(size.rules, Paged):
        return _paged_legend(size, size.rules)
    entries: list[tuple[str, str, bool]] = [
        ("B", f"sequences in the batch: {size.batch:,}", True),
        ("L", "layers of that kind", bool(kinds - {"none"})),
        (
            "T",
            f"tokens in the context: {size.length:,}",
            bool(kinds & {"full", "sliding", "latent"}),
        ),
        ("S", f"tokens that the encoder read: {size.encoder_length:,}", "cross" in kinds),
        ("W", "the window of sliding attention", "sliding" in kinds),
        ("n_{kv}", "KV heads (groups)", bool(kinds & {"full", "sliding", "cross"})),
        ("d_k, d_v", "width of a key and of a value", bool(kinds & {"full", "sliding", "cross"})),
        ("d_c", "kv_lora_rank, the width of the latent: no factor 2, no heads", "latent" in kinds),
        ("d_h^R", "qk_rope_head_dim, the width of the rotary key", "latent" in kinds),
        ("b", f"bytes an element of the cache: {width} ({size.dtype})", bool(kinds - {"none"})),
        ("s", "elements of one recurrent state", "linear" in kinds),
        ("b_s", f"bytes an element of the state: {_state(size)}", "linear" in kinds),
        ("c, K", "channels and taps of the short convolution", _convolves(size)),
    ]
    return tuple((symbol, meaning) for symbol, meaning, used in entries if used)


def _paged_legend(size: Size, rules: Paged) -> tuple[tuple[str, str], ...]:
    engine, kinds = rules.engine, set(size.spec.counts)
    entries = [
        ("B", f"sequences in the batch: {size.batch:,}", True),
        ("L", "layers of that kind", True),
        ("P", f"tokens in a page (block size): {engine.block_size:,}", True),
        ("p", f"bytes of a page on one of {engine.tensor_parallel} GPUs, part by part", True),
        ("T", f"tokens in the context: {size.length:,}", True),
        ("S", f"tokens that the encoder read: {size.encoder_length:,}", "cross" in kinds),
        ("W", "the window of sliding attention", "sliding" in kinds),
        ("M", f"most tokens in one step: {engine.max_batched_tokens:,}", "sliding" in kinds),
    ]
    return tuple((symbol, meaning) for symbol, meaning, used in entries if used)


def _convolves(size: Size) -> bool:
    return any(isinstance(layer, Linear) and layer.conv_channels for layer in size.spec.layers)


def _state(size: Size) -> str:
    return (
        size.rules.theory.state_dtype if isinstance(size.rules, Transformers) else size.state_dtype
    )

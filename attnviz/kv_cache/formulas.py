"""The formula behind a size, with the visitor's numbers in it.

Two forms: LaTeX to read, and a plain expression that any calculator takes. A test evaluates the
plain one and compares it with the bytes, which sizes.py counts tensor by tensor.
"""

from __future__ import annotations

from dataclasses import dataclass

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
    groups = [(layer, count) for layer, count in size.spec.groups if layer.stored(1, 1)]
    terms = tuple(_term(layer, count, size) for layer, count in groups)
    return Formula(terms, size.batch, size.total_bytes, _legend(size))


def _term(layer: Layer, count: int, size: Size) -> Term:
    bits = bits_of(size.dtype)
    if isinstance(layer, Full):
        tokens, symbol = _kept(layer, size)
        name = rf"L_\mathrm{{{layer.kind}}}"
        symbols = rf"{name} \, n_{{kv}} \, (d_k + d_v) \, {symbol} \, b"
        together = f"{layer.n_kv_heads} * ({layer.head_dim} + {layer.value_dim}) * {tokens}"
        apart = [f"{layer.n_kv_heads} * {d} * {tokens}" for d in (layer.head_dim, layer.value_dim)]
        numbers = _cache_bytes(together, apart, layer, size)
    elif isinstance(layer, Latent):
        widths = [layer.kv_lora_rank, layer.qk_rope_head_dim, layer.index_head_dim]
        index = r" + d_\mathrm{index}" if layer.index_head_dim else ""
        symbols = rf"L_\mathrm{{latent}} \, (d_c + d_h^R{index}) \, T \, b"
        shown = " + ".join(str(width) for width in widths[: 3 if layer.index_head_dim else 2])
        apart = [f"{width} * {size.length}" for width in widths if width]
        numbers = _cache_bytes(f"({shown}) * {size.length}", apart, layer, size)
    elif isinstance(layer, Linear):
        state = " * ".join(map(str, layer.state_shape))
        symbols = r"L_\mathrm{linear} \, \big(s \, b_s"
        numbers = _width(state, bits_of(size.state_dtype), layer.stored(0, 0)[0].elements)
        if layer.conv_channels and layer.conv_kernel > 1:
            symbols += r" + c \, (K - 1) \, b"
            tail = f"{layer.conv_channels} * ({layer.conv_kernel} - 1)"
            numbers += " + " + _width(tail, bits, layer.stored(0, 0)[1].elements)
        symbols += r"\big)"
        numbers = f"({numbers})"
    else:
        raise TypeError(f"no formula for {type(layer).__name__}")
    return Term(layer.kind, count, symbols, f"{count} * {numbers}")


def _kept(layer: Full, size: Size) -> tuple[str, str]:
    """How many tokens a layer holds: as numbers, and as a LaTeX symbol."""
    if isinstance(layer, Sliding):
        return f"min({size.length}, {layer.window})", r"\min(T, W)"
    if isinstance(layer, Cross):
        return str(size.encoder_length), "S"
    return str(size.length), "T"


def _cache_bytes(together: str, apart: list[str], layer: Layer, size: Size) -> str:
    """All tensors of a layer in one product where each is whole bytes, else each rounded up."""
    bits = bits_of(size.dtype)
    tensors = layer.stored(size.length, size.encoder_length)
    if all(tensor.elements * bits % 8 == 0 for tensor in tensors):
        return together + _times(bits)
    return "(" + " + ".join(f"ceil({part}{_times(bits)})" for part in apart) + ")"


def _width(product: str, bits: int, elements: int) -> str:
    text = product + _times(bits)
    return text if elements * bits % 8 == 0 else f"ceil({text})"


def _times(bits: int) -> str:
    return f" * {bits} / 8" if bits % 8 else f" * {bits // 8}"


def _legend(size: Size) -> tuple[tuple[str, str], ...]:
    kinds = set(size.spec.counts)
    bits = bits_of(size.dtype)
    width = f"{bits / 8:g} byte{'' if bits == 8 else 's'}"
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
        ("b_s", f"bytes an element of the state: {size.state_dtype}", "linear" in kinds),
        ("c, K", "channels and taps of the short convolution", _convolves(size)),
    ]
    return tuple((symbol, meaning) for symbol, meaning, used in entries if used)


def _convolves(size: Size) -> bool:
    return any(isinstance(layer, Linear) and layer.conv_channels for layer in size.spec.layers)

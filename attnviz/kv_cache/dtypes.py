"""Storage widths, in bits, of what a cache may hold."""

from __future__ import annotations

from fractions import Fraction

from attnviz.errors import AttnvizError

BITS: dict[str, int | Fraction] = {
    "float32": 32,
    "bfloat16": 16,
    "float16": 16,
    "float8": 8,
    "int8": 8,
    "int6": 6,
    "int4": 4,
    "int8_g32": Fraction(17, 2),
    "int4_g128": Fraction(33, 8),
    "int4_g64": Fraction(17, 4),
    "int4_g32": Fraction(9, 2),
}
"""Bits an element. Plain names are the payload alone. A quantised cache also keeps scales: _g32
counts one of 16 bits for every 32 elements (the layout of llama.cpp's Q8_0 and Q4_0)."""


def bits_of(dtype: str) -> int | Fraction:
    """The width of one element in bits; an unknown name is refused with those there are."""
    if not isinstance(dtype, str) or dtype not in BITS:
        raise AttnvizError(f"Expected a dtype among {', '.join(BITS)}, not {dtype!r}.")
    return BITS[dtype]


def whole_bytes(elements: int, bits: int | Fraction) -> int:
    """Bytes of one tensor: elements times bits, rounded up to a whole byte."""
    return int(-(-elements * bits // 8))


def plain(amount: int | Fraction) -> int | float:
    """An int where the amount is whole, else the float: bytes a token may be half ones."""
    return int(amount) if amount == int(amount) else float(amount)

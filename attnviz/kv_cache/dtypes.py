"""Storage widths, in bits, of what a cache may hold."""

from __future__ import annotations

from attnviz.errors import AttnvizError

BITS = {
    "float32": 32,
    "bfloat16": 16,
    "float16": 16,
    "float8": 8,
    "int8": 8,
    "int6": 6,
    "int4": 4,
}
"""Bits an element. The payload alone: a quantised cache also keeps scales, which formats choose
differently and which are not counted here."""


def bits_of(dtype: str) -> int:
    """The width of one element in bits; an unknown name is refused with those there are."""
    if not isinstance(dtype, str) or dtype not in BITS:
        raise AttnvizError(f"Expected a dtype among {', '.join(BITS)}, not {dtype!r}.")
    return BITS[dtype]


def whole_bytes(elements: int, bits: int) -> int:
    """Bytes of one tensor: elements times bits, rounded up to a whole byte."""
    return -(-elements * bits // 8)

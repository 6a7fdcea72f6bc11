"""The colours of every picture: sequential maps, one diverging map, one accent per tensor.

Magma is by Stéfan van der Walt and Nathaniel Smith (CC0, github.com/BIDS/colormap), Cividis by
Nuñez, Anderton and Renslow (2018), PuOr is ColorBrewer's (Harrower and Brewer 2003), the accents
are Okabe and Ito's. The sequential maps keep their order of lightness under protanopia,
deuteranopia and tritanopia, and the two sides of the diverging one and the lines of any two heads
stay apart (Machado et al. 2009): tests/figures/test_palette.py computes it all.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from jaxtyping import UInt8

STEPS = 256

# Evenly spaced control points, from dark to light.
_MAGMA = """
000004 040413 0b0924 150e37 20114b 2c1160 3b0f70 4a1079 57157e 651a80 721f81 7f2482 8c2981
9a2e80 a8327d b6377a c43c75 d1426f de4968 e95462 f1605d f76f5c fa7f5e fc8f65 fe9f6d feaf78
febf84 fece91 fddea0 fcedaf fcfdbf
"""
_CIVIDIS = "00224e 123570 3b496c 575d6d 707173 8a8678 a59c74 c3b369 e1cc55 fee838"
_INK, _PAPER = "000000", "ffffff"  # beyond a map's own ends: nothing is as pale as the page
# From negative (purple) to positive (orange).
_PUOR = "2d004b 542788 8073ac b2abd2 d8daeb f7f7f7 fee0b6 fdb863 e08214 b35806 7f3b08"
# The same hues with CIELAB lightness turned over, so that 0 recedes into a dark page too.
_PUOR_DARK = "ebc4ff ca94fe 7d70a9 524d6f 323441 242424 42300d 714400 b76500 f28d41 ffc6a4"

ACCENTS: dict[str, tuple[str, str]] = {  # name: (on a light page, on a dark page)
    "plain": ("#767676", "#9a9a9a"),
    "query": ("#0072B2", "#56A5DB"),
    "key": ("#D55E00", "#F28E4B"),
    "value": ("#009E73", "#3CC79E"),
    "output": ("#CC79A7", "#E3A3C6"),
    "mask": ("#767676", "#9a9a9a"),
    "highlight": ("#E69F00", "#F5BE4F"),
}

# (on a light page, on a dark page), from dark to light
_SEQUENTIAL: dict[str, tuple[str, str]] = {
    "magma": (f"{_MAGMA} {_PAPER}", _MAGMA),
    "cividis": (f"{_CIVIDIS} {_PAPER}", f"{_INK} {_CIVIDIS}"),
    "grey": (f"{_INK} {_PAPER}", f"{_INK} {_PAPER}"),
}
SEQUENTIAL = tuple(_SEQUENTIAL)
"""The palettes that weights can be drawn in; the first is the usual one."""

LINES: tuple[tuple[str, ...], tuple[str, ...]] = (
    ("#0072B2", "#D55E00", "#4B0092", "#CC6677", "#661100", "#3D3D3D"),
    ("#4A7DFF", "#C46210", "#B39DDB", "#3CC79E", "#F5BE4F", "#F4F4F4"),
)
"""The lines of up to six heads in one picture, (on a light page, on a dark page)."""


@cache
def sequential(dark: bool = False, name: str = SEQUENTIAL[0]) -> UInt8[np.ndarray, "256 3"]:
    """sRGB colours from 0 (the page's own end: white on light, black on dark) to the largest."""
    on_light, on_dark = _SEQUENTIAL[name]
    return _table(on_dark) if dark else _table(on_light)[::-1].copy()


@cache
def diverging(dark: bool = False) -> UInt8[np.ndarray, "256 3"]:
    """sRGB colours from the most negative to the most positive value, 0 between 127 and 128."""
    return _table(_PUOR_DARK if dark else _PUOR)


def _table(control_points: str) -> UInt8[np.ndarray, "256 3"]:
    points = np.array([list(bytes.fromhex(word)) for word in control_points.split()], float)
    at = np.linspace(0, len(points) - 1, STEPS)
    channels = [np.interp(at, np.arange(len(points)), points[:, c]) for c in range(3)]
    return np.stack(channels, axis=1).round().astype(np.uint8)

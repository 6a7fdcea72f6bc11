"""The number that scores are multiplied by before the softmax, and how a formula writes it."""

from __future__ import annotations

import math
from numbers import Real

from attnviz.errors import AttnvizError


def scaling(
    scale: bool | int | float, temperature: int | float, head_dim: int
) -> tuple[float, str]:
    """(factor, LaTeX of the scaled scores in terms of S).

    scale True is 1 / sqrt(d_k) (Vaswani et al. 2017, section 3.2.1), False is 1, a number is
    itself; the factor is divided by the temperature.
    """
    if isinstance(temperature, bool) or not _finite(temperature) or temperature <= 0:
        raise AttnvizError(
            f"temperature must be a finite number above 0; received {temperature!r}. (Towards 0 "
            f"the softmax becomes the exact lookup of the best key.)"
        )
    if not _finite(scale):
        raise AttnvizError(f"scale must be True, False or a finite number; received {scale!r}.")
    if scale is True:
        factor, below = head_dim**-0.5, r"\sqrt{d_k}"
    else:
        factor, below = 1.0 if scale is False else float(scale), ""
    above = "S" if isinstance(scale, bool) else rf"{factor:g}\, S"
    if temperature != 1:
        below = rf"\tau\, {below}" if below else r"\tau"
    return factor / temperature, rf"\frac{{{above}}}{{{below}}}" if below else above


def _finite(number: object) -> bool:
    try:
        return isinstance(number, Real) and math.isfinite(number)
    except OverflowError:  # an int too large for any float
        return False

"""Where DeepSeek-V2's 93.3 % comes from: two caches a token, at precisions of one's choice.

The report (2024, abstract and section 3.2.3) compares with DeepSeek 67B, whose 64 query heads
share 8 KV heads, and stores V2's cache in 6 bits on average. No baseline with a key and a value
for each query head gives 93.3 %.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from attnviz.errors import AttnvizError
from attnviz.kv_cache.dtypes import bits_of, plain
from attnviz.kv_cache.library import preset

BASELINES = {
    "67B as it is: GQA, 8 KV heads": 2 * 8 * 128 * 95,
    "a 67B that never was: MHA, 64 heads": 2 * 64 * 128 * 95,
    "V2's own shape as MHA, 128 heads": 2 * 128 * 128 * 60,
    "V2's latent expanded to keys and values": 128 * (192 + 128) * 60,
}
"""Elements a token."""


@dataclass(frozen=True)
class Reduction:
    """Bytes a token of both, and what is saved."""

    latent_bytes: int | float
    baseline_bytes: int | float
    saved: float
    expression: str  # 1 - latent / baseline with the numbers


def reduction(latent_dtype: str = "int6", baseline: str = "", dtype: str = "float16") -> Reduction:
    """What V2's latent saves against a baseline.

    >>> reduction("int6").saved, reduction("float16").saved
    (0.9333881578947368, 0.8223684210526315)
    """
    word = baseline or next(iter(BASELINES))
    if word not in BASELINES:
        raise AttnvizError(f"Expected a baseline among {', '.join(BASELINES)}, not {word!r}.")
    layers = preset("deepseek-v2").layers
    elements = sum(part.elements for layer in layers for part in layer.stored(1, 0))
    ours = Fraction(elements * bits_of(latent_dtype)) / 8
    theirs = Fraction(BASELINES[word] * bits_of(dtype)) / 8
    bits, old = float(bits_of(latent_dtype)), float(bits_of(dtype))
    expression = f"1 - ({elements} * {bits:g} / 8) / ({BASELINES[word]} * {old:g} / 8)"
    return Reduction(plain(ours), plain(theirs), float(1 - ours / theirs), expression)

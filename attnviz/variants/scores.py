"""What may change the scores between scaling and softmax: a bias, a cap, and a sink.

The order is scale, bias, cap, mask, softmax with sink. A mask before the cap would leak: tanh(-inf)
is -1, so a hidden key would keep the score -cap.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from attnviz import seeded
from attnviz.errors import AttnvizError
from attnviz.variants.variant import Setup, Tensors

SCORE_OPTIONS = {
    "bias": ("none", "alibi"),
    "softcap": ("none", "50", "20", "5"),
    "sink": ("none", "off_by_one", "learned"),
}
"""Options of every softmax variant, the first being the default."""


@dataclass(frozen=True)
class ScoreChanges:
    """What one run changes; nothing by default."""

    slopes: Float[Tensor, " heads"] | None = None  # of ALiBi
    softcap: float | None = None
    sinks: Float[Tensor, " heads"] | None = None  # the logit of each head's sink


UNCHANGED = ScoreChanges()


def score_changes(setup: Setup, W: Mapping[str, Tensor]) -> ScoreChanges:
    """The chosen options with their numbers. Raises AttnvizError for ALiBi in cross-attention."""
    options = setup.options
    if options["bias"] == "alibi" and setup.cross:
        raise AttnvizError(
            "ALiBi counts the tokens between query and key, which stand in two sequences here; "
            "leave out context, or choose bias='none'."
        )
    alibi = options["bias"] == "alibi"
    return ScoreChanges(
        slopes=alibi_slopes(setup.dimensions.get("n_heads", 1)) if alibi else None,
        softcap=None if options["softcap"] == "none" else float(options["softcap"]),
        sinks=W.get("sinks"),
    )


def sink_parameters(
    d_model: int, seed: int, sizes: Mapping[str, int], options: Mapping[str, str]
) -> Tensors:
    """sinks (H,): a logit a head; 0 for off_by_one, drawn from N(0, 1) as if learned."""
    n_heads = sizes.get("n_heads", 1)
    if options["sink"] == "off_by_one":
        return {"sinks": torch.zeros(n_heads, dtype=torch.float64)}
    if options["sink"] == "learned":
        drawn = [seeded.normal((1,), seed, "sinks", head) for head in range(n_heads)]
        return {"sinks": torch.cat(drawn)}
    return {}


def alibi_slopes(n_heads: int) -> Float[Tensor, " {n_heads}"]:
    """2^(-8 h / H) for h = 1 .. H (Press et al. 2022, ALiBi, section 3), in float64.

    Where H is no power of two: the slopes of the power below it, then every other one of twice
    that power, as in the paper's code.
    """
    below = 2 ** (n_heads.bit_length() - 1)
    first = 2.0 ** (-8 * torch.arange(1, below + 1, dtype=torch.float64) / below)
    between = 2.0 ** (-4 * torch.arange(1, 2 * below + 1, 2, dtype=torch.float64) / below)
    return torch.cat([first, between])[:n_heads]


def alibi(
    slopes: Float[Tensor, " heads"], n_queries: int, n_keys: int
) -> Float[Tensor, "heads {n_queries} {n_keys}"]:
    """-m_h |i - j|: the further the key, the lower the score, more so in heads of large slope m.

    Before the query this is the paper's -m (i - j); a key after it, which the paper's causal mask
    hides, is held as far away as one before.
    """
    at = torch.arange(max(n_queries, n_keys), dtype=slopes.dtype, device=slopes.device)
    distance = (at[:n_queries, None] - at[None, :n_keys]).abs()
    return -slopes[:, None, None] * distance


def capped(scores: Float[Tensor, "*shape"], softcap: float) -> Float[Tensor, "*shape"]:
    """c tanh(s / c): no score leaves (-c, c) (Gemma Team 2024, Gemma 2, section 2)."""
    return softcap * (scores / softcap).tanh()

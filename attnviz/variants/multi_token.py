"""Multi-token attention: a weight depends on neighbouring queries, keys and heads.

Golovneva et al. 2025, Multi-Token Attention, sections 3.1 to 3.3 (arXiv:2504.00927). A small kernel
for each head slides over its scores, before the softmax (equation 5), after it (equation 6), or
both; heads of a group are mixed likewise (equation 7). The map is masked twice: with 0 before a
convolution, so that nothing hidden is blended in, and with minus infinity before the softmax (0
after it), so that nothing is blended out to hidden places. Each head's output may then be brought
to a length that falls with depth (head_norm), so that the residual stream does not drown it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn import functional as F

from attnviz import seeded
from attnviz.errors import AttnvizError
from attnviz.variants import multi_head
from attnviz.variants.dimensions import positive
from attnviz.variants.heads import attending, join_heads, project_heads, split_heads
from attnviz.variants.multi_token_text import multi_token_steps
from attnviz.variants.softmax import hide, softmax
from attnviz.variants.variant import Setup, Tensors, Variant

PLACES = {"before": ("before",), "after": ("after",), "both": ("before", "after"), "none": ()}
"""Where an option puts its operation: before the softmax, after it."""


def compute(
    x: Float[Tensor, "batch queries d_model"],
    context: Float[Tensor, "batch keys d_model"],
    W: Mapping[str, Tensor],
    allowed: Bool[Tensor, "#batch #heads queries keys"] | None,
    setup: Setup,
) -> Tensors:
    """All heads, every step kept."""
    steps = project_heads(x, context, W, setup)
    query, key, value = attending(steps)
    steps["scores"] = query @ key.mT  # (B, H, T_q, T_k)
    steps["scaled"] = steps["scores"] * setup.scale
    now = blend(steps, "scaled", "before", W, allowed)
    steps["masked"] = hide(now, allowed)
    steps["shares"] = softmax(steps["masked"])
    now = blend(steps, "shares", "after", W, allowed)
    steps["weights"] = zero(now, allowed)
    heads = now = steps["weights"] @ value  # (B, H, T_q, d_v)
    steps["heads"] = heads
    if setup.options["head_norm"] == "group":
        now = steps["heads_normed"] = norm_heads(heads, setup.dimensions["layer"])
    return steps | join_heads(now, W) | {"heads": heads}


def blend(
    steps: Tensors,
    source: str,
    place: str,
    W: Mapping[str, Tensor],
    allowed: Bool[Tensor, "#batch #heads queries keys"] | None,
) -> Float[Tensor, "batch heads queries keys"]:
    """Convolve and mix what is asked for at this place, adding the steps; else the source as is."""
    now = steps[source]
    if f"kernel_{place}" in W:
        now = steps[f"zeroed_{place}"] = zero(now, allowed)
        now = steps[f"convolved_{place}"] = convolve(now, W[f"kernel_{place}"])
    if f"mixing_{place}" in W:
        now = steps[f"mixed_{place}"] = mix_heads(now, W[f"mixing_{place}"])
    return now


def zero(
    weights: Float[Tensor, "*batch queries keys"],
    allowed: Bool[Tensor, "*#batch queries keys"] | None,
) -> Float[Tensor, "*batch queries keys"]:
    """Put 0 where a query may not look: -inf would turn every neighbour into NaN."""
    return weights if allowed is None else weights.masked_fill(~allowed, 0.0)


def convolve(
    weights: Float[Tensor, "batch heads queries keys"],
    kernel: Float[Tensor, "heads c_q c_k"],
) -> Float[Tensor, "batch heads queries keys"]:
    """out[i, j] = sum over a, b of kernel[a, b] in[i - (c_q - 1) + a, j - (c_k - 1) / 2 + b].

    The kernel's last row is the query itself, the rows above it are the queries before; keys are
    blended to both sides. Outside the map everything is 0.
    """
    H, c_q, c_k = kernel.shape
    padded = F.pad(weights, (c_k // 2, c_k // 2, c_q - 1, 0))
    return F.conv2d(padded, kernel[:, None], groups=H)


def mix_heads(
    weights: Float[Tensor, "batch heads queries keys"],
    mixing: Float[Tensor, "groups c_h c_h"],
) -> Float[Tensor, "batch heads queries keys"]:
    """New head g of a group = sum over its heads h of mixing[g, h] times head h."""
    grouped = weights.unflatten(1, mixing.shape[:2])  # (B, groups, c_h, T_q, T_k)
    return torch.einsum("ngh,bnhij->bngij", mixing, grouped).flatten(1, 2)


def norm_heads(
    heads: Float[Tensor, "batch heads queries d_v"], layer: int
) -> Float[Tensor, "batch heads queries d_v"]:
    """Each head's output of each token at root mean square 1 - lambda, lambda falling with depth.

    lambda = 0.8 - 0.6 exp(-0.3 (layer - 1)), layers counted from 1: the group norm of differential
    attention (Ye et al. 2024, equation 3, arXiv:2410.05258), with its weights at 1.
    """
    wide = heads.float() if heads.dtype in (torch.float16, torch.bfloat16) else heads
    rest = 1 - (0.8 - 0.6 * math.exp(-0.3 * (layer - 1)))
    mean_square = wide.square().mean(dim=-1, keepdim=True)
    return (rest * wide * (mean_square + 1e-5).rsqrt()).to(heads.dtype)


def dimensions(
    d_model: int,
    n_heads: int = 4,
    head_dim: int | None = None,
    v_head_dim: int | None = None,
    query_window: int = 3,
    key_window: int = 5,
    head_group: int = 2,
    layer: int = 1,
) -> dict[str, int]:
    """The paper has query_window (c_q) 6, key_window (c_k) 11 and head_group (c_h) 16.

    layer, from 1, counts for head_norm alone.
    """
    sizes = multi_head.dimensions(d_model, n_heads, head_dim, v_head_dim)
    if positive("key_window", key_window) % 2 == 0:
        raise AttnvizError(
            f"key_window must be odd, as many keys to each side of the own; received {key_window}."
        )
    if n_heads % positive("head_group", head_group):
        raise AttnvizError(
            f"n_heads = {n_heads} cannot be dealt out evenly to groups of head_group = "
            f"{head_group}; choose a size that divides it."
        )
    return sizes | {
        "query_window": positive("query_window", query_window),
        "key_window": key_window,
        "head_group": head_group,
        "layer": positive("layer", layer),
    }


def blending_parameters(
    d_model: int, seed: int, sizes: Mapping[str, int], options: Mapping[str, str]
) -> Tensors:
    """kernel_before/after (H, c_q, c_k) and mixing_before/after (H / c_h, c_h, c_h).

    The identity, where training starts from, and draws of standard deviation 0.3.
    """
    H, c_q, c_k = sizes["n_heads"], sizes["query_window"], sizes["key_window"]
    W = {}
    for place in PLACES[options["convolution"]]:
        identity = torch.zeros(H, c_q, c_k, dtype=torch.float64)
        identity[:, -1, c_k // 2] = 1.0
        drawn = seeded.normal((H, c_q, c_k), seed, "kernel", place)
        W[f"kernel_{place}"] = identity + 0.3 * drawn
    for place in PLACES[options["head_mixing"]]:
        shape = (H // sizes["head_group"], sizes["head_group"], sizes["head_group"])
        drawn = seeded.normal(shape, seed, "mixing", place)
        W[f"mixing_{place}"] = torch.eye(shape[1], dtype=torch.float64) + 0.3 * drawn
    return W


def changes_shares(options: Mapping[str, str]) -> bool:
    """Is something done after the softmax, so that rows no longer are shares of 1?"""
    return any("after" in PLACES[options[word]] for word in ("convolution", "head_mixing"))


VARIANT = Variant(
    name="multi_token",
    title="Multi-token attention",
    source="Golovneva et al. 2025, Multi-token attention, section 3 (arXiv:2504.00927)",
    compute=compute,
    fused=compute,
    dimensions=dimensions,
    parameters=multi_head.parameters,
    describe=multi_token_steps,
    parts=(
        project_heads, split_heads, blend, zero, convolve, mix_heads, hide, softmax, norm_heads,
        join_heads,
    ),
    fast="",
    options={"convolution": ("before", "after", "both", "none"),
             "head_mixing": ("after", "before", "both", "none"),
             "head_norm": ("none", "group")},
    optional_parameters=blending_parameters,
    effective=changes_shares,
)  # fmt: skip

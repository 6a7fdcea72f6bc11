"""Linformer: keys and values are first pressed into k places (Wang et al. 2020, section 4.1).

head = softmax(Q (E K)^T / sqrt(d_k)) (F V), equation 7, with E and F of shape (k, n) shared by the
heads. Queries look at k mixtures of tokens instead of n tokens, so cost grows with n, not with its
square. The exact map from tokens to outputs is P F: signed, its rows need not add up to 1, and it
cannot be causal, for every mixture holds the future too.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attnviz import seeded
from attnviz.errors import AttnvizError
from attnviz.trace import Origin
from attnviz.variants import multi_head
from attnviz.variants.dimensions import positive
from attnviz.variants.heads import attending, join_heads, project_heads, split_heads
from attnviz.variants.softmax import attend_fused, softmax
from attnviz.variants.text import output_steps, projection_steps, split_steps
from attnviz.variants.variant import Setup, StepText, Tensors, Variant

LONGEST = 4096
"""Tokens for which E and F are drawn; a shorter sequence takes their first columns."""


def compute(
    x: Float[Tensor, "batch queries d_model"],
    context: Float[Tensor, "batch keys d_model"],
    W: Mapping[str, Tensor],
    allowed: Bool[Tensor, "#batch #heads queries keys"] | None,
    setup: Setup,
) -> Tensors:
    """All heads, every step kept."""
    steps, F_ = press(x, context, W, allowed, setup)
    steps["scores"] = attending(steps)[0] @ steps["key_pressed"].mT  # (B, H, T_q, k)
    steps["scaled"] = steps["scores"] * setup.scale
    steps["pressed_weights"] = softmax(steps["scaled"])
    steps["weights"] = steps["pressed_weights"] @ F_  # (B, H, T_q, T_k)
    return steps | join_heads(steps["pressed_weights"] @ steps["value_pressed"], W)


def fused(
    x: Float[Tensor, "batch queries d_model"],
    context: Float[Tensor, "batch keys d_model"],
    W: Mapping[str, Tensor],
    allowed: Bool[Tensor, "#batch #heads queries keys"] | None,
    setup: Setup,
) -> Tensors:
    """The same output from PyTorch's fused kernel, which makes no map of n by n either way."""
    steps, _ = press(x, context, W, allowed, setup)
    pressed = (attending(steps)[0], steps["key_pressed"], steps["value_pressed"])
    return steps | join_heads(attend_fused(*pressed, allowed=None, scale=setup.scale), W)


def press(
    x: Float[Tensor, "batch queries d_model"],
    context: Float[Tensor, "batch keys d_model"],
    W: Mapping[str, Tensor],
    allowed: Bool[Tensor, "#batch #heads queries keys"] | None,
    setup: Setup,
) -> tuple[Tensors, Float[Tensor, "#batch 1 places keys"]]:
    """(projections, pressed keys and values; F with the columns of hidden tokens at 0)."""
    n_keys = context.shape[1]
    if n_keys > LONGEST:
        raise AttnvizError(
            f"Linformer's E and F are as long as the longest sequence, {LONGEST:,} tokens here; "
            f"received {n_keys:,}."
        )
    steps = project_heads(x, context, W, setup)
    _, key, value = attending(steps)
    E, F_ = (W[word][None, None, :, :n_keys] for word in ("E", "F"))  # (1, 1, k, T_k)
    if allowed is not None:
        seen = visible(allowed)[:, None, None].to(x)  # (#B, 1, 1, T_k)
        E, F_ = E * seen, F_ * seen
    return steps | {"key_pressed": E @ key, "value_pressed": F_ @ value}, F_


def visible(allowed: Bool[Tensor, "batch heads queries keys"]) -> Bool[Tensor, "batch keys"]:
    """The keys that are not hidden, if they are the same for every query and head."""
    keys = allowed[:, 0, 0]
    if not torch.equal(keys[:, None, None].expand_as(allowed), allowed):
        raise AttnvizError(
            "Linformer mixes all keys before any query looks, so it can hide a key from all "
            "queries (masks.padding) and not from some; no mask, or a padding mask, was expected."
        )
    return keys


def dimensions(
    d_model: int,
    n_heads: int = 4,
    head_dim: int | None = None,
    v_head_dim: int | None = None,
    places: int = 4,
) -> dict[str, int]:
    """places is the paper's k: how many mixtures of tokens stand for all of them."""
    sizes = multi_head.dimensions(d_model, n_heads, head_dim, v_head_dim)
    if positive("places", places) > LONGEST:
        raise AttnvizError(f"places must be at most {LONGEST:,}; received {places:,}.")
    return sizes | {"places": places}


def parameters(d_model: int, seed: int, sizes: Mapping[str, int]) -> Tensors:
    """Those of multi_head, and E and F (k, LONGEST) with entries from N(0, 1 / k), as in theorem 2.

    A token's column is the same for any length.
    """
    places = sizes["places"]
    pressing = {
        word: seeded.normal((LONGEST, places), seed, word).T * places**-0.5 for word in ("E", "F")
    }
    return multi_head.parameters(d_model, seed, sizes) | pressing


def always(options: Mapping[str, str]) -> bool:
    """P F is no softmax, whatever the options."""
    return True


def describe(setup: Setup) -> dict[str, StepText]:
    """What each step is called, and how it came about."""
    rotated = "key_rotated" if setup.rotary else "key_heads"
    places = ("batch", "head", "query", "place")
    own = {
        "key_pressed": StepText(
            ("batch", "head", "place", "channel"), "key", "EK_h", r"EK_h = E\, K_h",
            "All keys mixed into a few: there is no telling them apart any more.",
            Origin("formula", (rotated, "E")),
        ),
        "value_pressed": StepText(
            ("batch", "head", "place", "value_channel"), "value", "FV_h", r"FV_h = F\, V_h",
            "All values mixed into a few.", Origin("formula", ("value_heads", "F")),
        ),
        "scores": StepText(
            places, "scores", "S_h", r"S_h = Q_h\, (E K_h)^\top",
            "How well each query fits each mixture of keys.",
            Origin("formula", ("query_heads", "key_pressed")),
        ),
        "scaled": StepText(
            places, "scores", "S'_h", f"S'_h = {setup.scaling.replace('S', 'S_h')}",
            "The scores as they enter the softmax.", Origin("scale", ("scores",)),
        ),
        "pressed_weights": StepText(
            places, "other", "P_h", r"P_h = \mathrm{softmax}(S'_h)",
            "Each row becomes shares of the mixtures that add up to 1.",
            Origin("softmax", ("scaled",)),
        ),
        "weights": StepText(
            ("batch", "head", "query", "key"), "weights", "A_h", r"A_h = P_h\, F",
            "The exact map from tokens to outputs. It is no probability: cells may be negative.",
            Origin("formula", ("pressed_weights", "F")),
        ),
        "heads": StepText(
            ("batch", "head", "query", "value_channel"), "output", "O_h",
            r"O_h = P_h\, (F V_h) = A_h V_h", "The mixtures of values, mixed in those shares.",
            Origin("mix", ("pressed_weights", "value_pressed")),
        ),
    }  # fmt: skip
    symbols = ("Q_h", "K_h", "V_h")
    projections = projection_steps(setup, heads=True) | split_steps(setup, symbols)
    return projections | own | output_steps()


VARIANT = Variant(
    name="linformer",
    title="Linformer",
    source="Wang et al. 2020, Linformer, section 4 (arXiv:2006.04768)",
    compute=compute,
    fused=fused,
    dimensions=dimensions,
    parameters=parameters,
    describe=describe,
    parts=(project_heads, split_heads, press, visible, softmax, join_heads),
    effective=always,
    causal="never",
)

"""Additive attention: a small network compares query and key (Bahdanau et al. 2015, section 3.1).

e_ij = v_a^T tanh(W_a s_i + U_a h_j), a = softmax(e), c_i = sum_j a_ij h_j (equations 5 and 6, and
appendix A.1.2). In the paper s_i is the decoder's state before word i and h_j the encoder's
annotation of word j: cross-attention. The values are the annotations themselves, and nothing is
divided by the square root of d_k: tanh bounds each term already.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attnviz import seeded
from attnviz.errors import AttnvizError
from attnviz.trace import Origin
from attnviz.variants.dimensions import positive
from attnviz.variants.parameters import head_columns
from attnviz.variants.softmax import hide, softmax, weigh
from attnviz.variants.text import core_steps
from attnviz.variants.variant import Setup, StepText, Tensors, Variant

AT_ONCE = 2**22
"""Numbers under the tanh that are held at a time: there are T_q T_k d_a of them in all."""


def compute(
    x: Float[Tensor, "batch queries d_model"],
    context: Float[Tensor, "batch keys d_model"],
    W: Mapping[str, Tensor],
    allowed: Bool[Tensor, "#batch 1 queries keys"] | None,
    setup: Setup,
) -> Tensors:
    """One head, every step kept but what is under the tanh."""
    if setup.rotary:
        raise AttnvizError(
            "Rotary positions act on dot products, and additive attention has none; choose "
            "positions 'sinusoidal' or 'none'."
        )
    query = x @ W["W_q"]  # (B, T_q, d_a)
    key = context @ W["W_k"]  # (B, T_k, d_a), once for all queries
    steps = {"query": query, "key": key, "scores": additive_scores(query, key, W["v_a"])}
    mask = None if allowed is None else allowed[:, 0]  # (#B, T_q, T_k): there is one head
    return steps | weigh(steps["scores"], context, allowed=mask, scale=setup.scale)


def additive_scores(
    query: Float[Tensor, "batch queries d_a"],
    key: Float[Tensor, "batch keys d_a"],
    v_a: Float[Tensor, " d_a"],
) -> Float[Tensor, "batch queries keys"]:
    """v_a^T tanh(query_i + key_j) for each pair, some rows at a time."""
    rows = max(1, AT_ONCE // key.numel())
    blocks = [
        (block[:, :, None] + key[:, None]).tanh() @ v_a  # (B, rows, T_k, d_a) -> (B, rows, T_k)
        for block in query.split(rows, dim=1)
    ]
    return torch.cat(blocks, dim=1)


def dimensions(d_model: int, head_dim: int | None = None) -> dict[str, int]:
    """head_dim is d_a, the width of the small network; it defaults to d_model."""
    d_a = positive("head_dim", d_model if head_dim is None else head_dim)
    return {"head_dim": d_a, "v_head_dim": d_model}


def parameters(d_model: int, seed: int, sizes: Mapping[str, int]) -> Tensors:
    """W_q (the paper's W_a) and W_k (its U_a), (d_model, d_a), and v_a (d_a,), in float64."""
    d_a = sizes["head_dim"]
    return {
        "W_q": head_columns("W_q", seed, 1, d_model, d_a),
        "W_k": head_columns("W_k", seed, 1, d_model, d_a),
        "v_a": seeded.normal((d_a,), seed, "v_a"),
    }


def describe(setup: Setup) -> dict[str, StepText]:
    """What each step is called, and how it came about."""
    source, h = ("context", "C") if setup.cross else ("inputs", "X")
    steps = core_steps(setup, ("Q", "K", h))
    steps["scores"] = StepText(
        ("batch", "query", "key"),
        "scores",
        "S",
        r"S[i,j] = v_a^\top \tanh(Q[i] + K[j])",
        "A small network with one hidden layer compares each query with each key.",
        Origin("formula", ("query", "key", "v_a")),
    )
    steps["output"] = StepText(
        ("batch", "query", "feature"),
        "output",
        "O",
        f"O = A\\, {h}",
        "For each query, the tokens themselves mixed in those shares: there is no value matrix.",
        Origin("mix", ("weights", source)),
    )
    projections = {
        "query": StepText(
            ("batch", "query", "channel"),
            "query",
            "Q",
            "Q = X W^Q",
            "What each query brings to the hidden layer; W^Q is the paper's W_a.",
            Origin("product", ("inputs", "W_q")),
        ),
        "key": StepText(
            ("batch", "key", "channel"),
            "key",
            "K",
            f"K = {h} W^K",
            "What each key brings to it, computed once for all queries; W^K is the paper's U_a.",
            Origin("product", (source, "W_k")),
        ),
    }
    return projections | steps


def working(cells: int, sizes: Mapping[str, int], options: Mapping[str, str]) -> int:
    """Before and under the tanh, of the rows that are held at a time; later the softmax's own."""
    return max(2 * cells, 2 * min(cells * sizes["head_dim"], AT_ONCE))


VARIANT = Variant(
    working=working,
    name="additive",
    title="Additive attention",
    source="Bahdanau et al. 2015, Neural machine translation by jointly learning to align and "
    "translate, section 3.1 (arXiv:1409.0473)",
    compute=compute,
    fused=compute,
    dimensions=dimensions,
    parameters=parameters,
    describe=describe,
    parts=(additive_scores, weigh, hide, softmax),
    fast="",
    scaled=False,
)

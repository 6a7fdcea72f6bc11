"""Top-k attention: a small indexer picks the keys that each query attends to.

DeepSeek-AI 2025, DeepSeek-V3.2-Exp, section 2.1 (DeepSeek sparse attention, equations 1 and 2).
I[t, s] = sum over index heads j of w[t, j] ReLU(q^I[t, j] k^I[s]): cheap, since index heads are few
and narrow and share one key. The k best allowed keys of a query are attended to, by all heads.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn import functional as F

from attnviz.positions import apply_rotary
from attnviz.trace import Origin
from attnviz.variants import grouped_query, multi_head
from attnviz.variants.dimensions import positive
from attnviz.variants.heads import (
    attending,
    join_heads,
    project_heads,
    share_heads,
    split_heads,
)
from attnviz.variants.parameters import head_columns
from attnviz.variants.softmax import attend, attend_fused, hide, softmax, weigh
from attnviz.variants.variant import Setup, StepText, Tensors, Variant


def compute(
    x: Float[Tensor, "batch queries d_model"],
    context: Float[Tensor, "batch keys d_model"],
    W: Mapping[str, Tensor],
    allowed: Bool[Tensor, "#batch #heads queries keys"] | None,
    setup: Setup,
) -> Tensors:
    """All heads, every step kept."""
    H = setup.dimensions["n_heads"]
    steps, chosen = choose(x, context, W, allowed, setup)
    query, key, value = attending(steps)
    key, value = share_heads(key, H), share_heads(value, H)  # (B, G, T_k, d) -> (B, H, T_k, d)
    steps |= attend(query, key, value, allowed=chosen, scale=setup.scale)
    return steps | join_heads(steps.pop("output"), W)


def fused(
    x: Float[Tensor, "batch queries d_model"],
    context: Float[Tensor, "batch keys d_model"],
    W: Mapping[str, Tensor],
    allowed: Bool[Tensor, "#batch #heads queries keys"] | None,
    setup: Setup,
) -> Tensors:
    """The same output from PyTorch's fused kernel, which still reads every key."""
    steps, chosen = choose(x, context, W, allowed, setup)
    heads = attend_fused(*attending(steps), allowed=chosen, scale=setup.scale)
    return steps | join_heads(heads, W)


def choose(
    x: Float[Tensor, "batch queries d_model"],
    context: Float[Tensor, "batch keys d_model"],
    W: Mapping[str, Tensor],
    allowed: Bool[Tensor, "#batch #heads queries keys"] | None,
    setup: Setup,
) -> tuple[Tensors, Bool[Tensor, "batch selections queries keys"]]:
    """(projections and the indexer's steps, the pairs that are left)."""
    steps = project_heads(x, context, W, setup)
    d_index = setup.dimensions["index_dim"]
    query = split_heads(x @ W["W_index_q"], setup.dimensions["index_heads"])  # (B, J, T_q, d_I)
    key = F.layer_norm(context @ W["W_index_k"], (d_index,), eps=1e-6)  # (B, T_k, d_I)
    if setup.rotary:
        query, key = apply_rotary(query), apply_rotary(key)
    importance = x @ W["W_index_w"]  # (B, T_q, J)
    steps |= {"index_query": query, "index_key": key, "index_weights": importance}
    steps["index_scores"] = index_scores(query, key, importance)
    chosen = top_k(steps["index_scores"], allowed, setup.dimensions["top_k"])
    steps["selected"] = chosen.to(x)  # 1 where attended to
    return steps, chosen


def index_scores(
    query: Float[Tensor, "batch index_heads queries d_index"],
    key: Float[Tensor, "batch keys d_index"],
    importance: Float[Tensor, "batch queries index_heads"],
) -> Float[Tensor, "batch queries keys"]:
    """Equation 1, over sqrt(J d_I) as in DeepSeek's code."""
    fit = (query @ key[:, None].mT).relu() * query.shape[-1] ** -0.5  # (B, J, T_q, T_k)
    return torch.einsum("bij,bjik->bik", importance, fit) * query.shape[1] ** -0.5


def top_k(
    scores: Float[Tensor, "batch queries keys"],
    allowed: Bool[Tensor, "#batch #heads queries keys"] | None,
    k: int,
) -> Bool[Tensor, "batch selections queries keys"]:
    """The k best keys of each query among the allowed ones; all of these where they are fewer."""
    selections = 1 if allowed is None else allowed.shape[1]  # one for all heads, or one a head
    ranked = hide(scores[:, None].expand(-1, selections, -1, -1), allowed)  # hidden keys come last
    best = ranked.topk(min(k, scores.shape[-1]), dim=-1).indices
    chosen = torch.zeros_like(ranked, dtype=torch.bool).scatter(-1, best, True)
    return chosen if allowed is None else chosen & allowed  # fewer may be allowed than k


def dimensions(
    d_model: int,
    n_heads: int = 4,
    n_kv_heads: int = 1,
    head_dim: int | None = None,
    v_head_dim: int | None = None,
    top_k: int = 4,
    index_heads: int = 2,
    index_dim: int = 8,
) -> dict[str, int]:
    """top_k is the keys a query keeps (2,048 in DeepSeek-V3.2), the others the indexer's width."""
    return grouped_query.dimensions(d_model, n_heads, n_kv_heads, head_dim, v_head_dim) | {
        "top_k": positive("top_k", top_k),
        "index_heads": positive("index_heads", index_heads),
        "index_dim": positive("index_dim", index_dim),
    }


def parameters(d_model: int, seed: int, sizes: Mapping[str, int]) -> Tensors:
    """Those of grouped_query, and the indexer's W_index_q, W_index_k and W_index_w."""
    J, d_index = sizes["index_heads"], sizes["index_dim"]
    return multi_head.parameters(d_model, seed, sizes) | {
        "W_index_q": head_columns("W_index_q", seed, J, d_model, d_index),
        "W_index_k": head_columns("W_index_k", seed, 1, d_model, d_index),
        "W_index_w": head_columns("W_index_w", seed, J, d_model, 1),
    }


def describe(setup: Setup) -> dict[str, StepText]:
    """What each step is called, and how it came about."""
    source, c = ("context", "C") if setup.cross else ("inputs", "X")
    k, turn = setup.dimensions["top_k"], r"\,R_t^\top" if setup.rotary else ""
    pairs = ("batch", "query", "key")
    indexer = {
        "index_query": StepText(
            ("batch", "index_head", "query", "index_channel"), "query", "Q^I_j",
            rf"[\,Q^I_1, \dots\,] = X\, W^{{IQ}}{turn}",
            "What each token asks the indexer for, in few and narrow heads.",
            Origin("formula", ("inputs", "W_index_q")),
        ),
        "index_key": StepText(
            ("batch", "key", "index_channel"), "key", "K^I",
            rf"K^I = \mathrm{{LayerNorm}}({c}\, W^{{IK}}){turn}",
            "What each token offers the indexer: one key for all index heads.",
            Origin("formula", (source, "W_index_k")),
        ),
        "index_weights": StepText(
            ("batch", "query", "index_head"), "other", "w", r"w = X\, W^{Iw}",
            "How much each index head counts for this query.",
            Origin("formula", ("inputs", "W_index_w")),
        ),
        "index_scores": StepText(
            pairs, "scores", "I",
            r"I[t,s] = \tfrac{1}{\sqrt{J d_I}} \textstyle\sum_j w[t,j]\, "
            r"\mathrm{ReLU}(Q^I_j[t]\, K^I[s]^\top)",
            "How promising each key is, before any head has looked.",
            Origin("formula", ("index_query", "index_key", "index_weights")),
        ),
        "selected": StepText(
            ("batch", "selection", "query", "key"), "mask", "M",
            rf"M[t,s] = 1 \text{{ if }} I[t,s] \text{{ is among the {k} best allowed, else }} 0",
            f"The {k} best keys of each query; all heads attend to these.",
            Origin("formula", ("index_scores",)),
        ),
    }  # fmt: skip
    base = grouped_query.describe(setup)
    before = {word: text for word, text in base.items() if not word.startswith("masked")}
    before["masked"] = StepText(
        ("batch", "head", "query", "key"),
        "scores",
        r"\hat{S}_h",
        r"\hat{S}_h[t,s] = S'_h[t,s] \text{ if } M[t,s] = 1, \text{ else } {-\infty}",
        "A key that was not selected gets minus infinity, so its weight will be 0.",
        Origin("formula", ("scaled", "selected")),
    )
    return before | indexer


VARIANT = Variant(
    name="sparse_topk",
    title="Top-k sparse attention",
    source="DeepSeek-AI 2025, DeepSeek-V3.2-Exp, section 2.1",
    compute=compute,
    fused=fused,
    dimensions=dimensions,
    parameters=parameters,
    describe=describe,
    parts=(
        project_heads, split_heads, choose, index_scores, top_k, share_heads, attend, weigh, hide,
        softmax, join_heads,
    ),
)  # fmt: skip

"""What the multi-head variants share: dealing projections out to heads, and joining them again."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attnviz.positions import apply_rotary
from attnviz.variants.variant import Setup, Tensors


def project_heads(
    x: Float[Tensor, "batch queries d_model"],
    context: Float[Tensor, "batch keys d_model"],
    W: Mapping[str, Tensor],
    setup: Setup,
) -> Tensors:
    """Queries for H heads, keys and values for G, dealt out, and turned by position if rotary."""
    H, G = setup.dimensions["n_heads"], setup.dimensions["n_kv_heads"]
    steps = {
        "query": x @ W["W_q"],  # (B, T_q, H * d_k)
        "key": context @ W["W_k"],  # (B, T_k, G * d_k)
        "value": context @ W["W_v"],  # (B, T_k, G * d_v)
    }
    steps["query_heads"] = split_heads(steps["query"], H)  # (B, H, T_q, d_k)
    steps["key_heads"] = split_heads(steps["key"], G)  # (B, G, T_k, d_k)
    steps["value_heads"] = split_heads(steps["value"], G)  # (B, G, T_k, d_v)
    if setup.rotary:
        steps["query_rotated"] = apply_rotary(steps["query_heads"])
        steps["key_rotated"] = apply_rotary(steps["key_heads"])
    return steps


def split_heads(
    x: Float[Tensor, "batch length channels"], n_heads: int
) -> Float[Tensor, "batch {n_heads} length head_dim"]:
    """Head h gets columns h * head_dim to (h + 1) * head_dim."""
    return x.unflatten(-1, (n_heads, -1)).transpose(1, 2)


def attending(steps: Tensors) -> tuple[Tensor, Tensor, Tensor]:
    """What enters the scores and the sum: queries (B, H, ..), keys and values (B, G, ..)."""
    query = steps.get("query_rotated", steps["query_heads"])
    key = steps.get("key_rotated", steps["key_heads"])
    return query, key, steps["value_heads"]


def share_heads(
    x: Float[Tensor, "batch kv_heads length head_dim"], n_heads: int
) -> Float[Tensor, "batch {n_heads} length head_dim"]:
    """Repeat each key/value head for its group: query head h reads head h // (n_heads / kv_heads).

    Neighbours share, as in Ainslie et al. 2023 and in PyTorch's enable_gqa.
    """
    return x.repeat_interleave(n_heads // x.shape[1], dim=1)


def join_heads(heads: Float[Tensor, "batch heads queries d_v"], W: Mapping[str, Tensor]) -> Tensors:
    """Each head's output, turned to token by token, the heads side by side, and their mixture."""
    transposed = heads.transpose(1, 2)  # (B, T_q, H, d_v): split_heads' transpose, undone
    concatenated = transposed.flatten(2)  # (B, T_q, H * d_v)
    output = concatenated @ W["W_o"]  # (B, T_q, d_model)
    return {
        "heads": heads,
        "transposed": transposed,
        "concatenated": concatenated,
        "output": output,
    }


def concatenate_heads(
    x: Float[Tensor, "batch heads length head_dim"],
) -> Float[Tensor, "batch length channels"]:
    """The inverse of split_heads. The transpose comes first, or tokens and heads get mixed."""
    return x.transpose(1, 2).flatten(2)


def merge_without_transpose(
    x: Float[Tensor, "batch heads length head_dim"],
) -> Float[Tensor, "batch length channels"]:
    """The mistake: as many rows as tokens and as many columns as channels, and no error."""
    return x.reshape(x.shape[0], x.shape[2], -1)


def misplaced(n_heads: int, length: int, head_dim: int) -> Bool[Tensor, "{length} channels"]:
    """True where merge_without_transpose puts something of another token into a token's row.

    Row t then holds consecutive tokens of one head. With a causal mask that may be the future.
    """
    token = torch.arange(length, dtype=torch.float64)[None, None, :, None]
    told = token.expand(1, n_heads, length, head_dim)  # each number says whose it is
    return (merge_without_transpose(told) != token[0])[0]

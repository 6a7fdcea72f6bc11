"""Decoding with latent attention: rebuild every key and value, or move the matrices instead.

Both forms cache the same: a latent and one rotated key a token (DeepSeek-V2, section 2.1.2, and
appendix C). The naive form rebuilds keys and values of all heads from all latents at every step.
Since q k^T = (c^Q W^UQ) (c W^UK)^T = c^Q (W^UQ W^UK^T) c^T, and likewise (A c W^UV) W^O =
A c (W^UV W^O), the absorbed form compares with the latents themselves and mixes them: multi-query
attention with one wide key, which is its value too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attnviz.errors import AttnvizError
from attnviz.trace import Trace
from attnviz.variants.heads import concatenate_heads, split_heads
from attnviz.variants.latent import yarn_scale
from attnviz.variants.softmax import hide, softmax


@dataclass(frozen=True)
class Decoding:
    """What one form computed for the last tokens of a sequence, from what it had cached."""

    cached: Mapping[str, Tensor]  # (B, T, ..) each
    rebuilt: Mapping[str, Tensor]  # (B, H, T, ..) each, made anew at every step
    scores: Float[Tensor, "batch heads queries keys"]  # not scaled
    weights: Float[Tensor, "batch heads queries keys"]
    output: Float[Tensor, "batch queries d_model"]

    @property
    def cached_per_token(self) -> int:
        """Numbers held for each token, counted from the tensors."""
        return sum(tensor[0, 0].numel() for tensor in self.cached.values())


@dataclass(frozen=True)
class Absorbed:
    """The two products that take the up-projections in, one a head."""

    query: Float[
        Tensor, "heads q_lora_rank kv_lora_rank"
    ]  # W^UQ W^UK^T: from query latent to key latent
    output: Float[
        Tensor, "heads kv_lora_rank d_model"
    ]  # W^UV W^O: from mixed latents to the output


def absorb(W: Mapping[str, Tensor], n_heads: int) -> Absorbed:
    """Both absorptions as literal matrices.

    Of fewer numbers as two factors than as their product, so decoding keeps them apart.
    """
    up_query, up_key, up_value = (_by_head(W[word], n_heads) for word in ("W_uq", "W_uk", "W_uv"))
    return Absorbed(up_query @ up_key.mT, up_value @ W["W_o"].unflatten(0, (n_heads, -1)))


def decode(trace: Trace, n_queries: int = 1) -> tuple[Decoding, Decoding]:
    """(naive, absorbed): the last n_queries tokens of a run of latent attention ask again.

    Raises AttnvizError for another variant, or for more queries than there are.
    """
    if trace.variant != "latent":
        raise AttnvizError(
            f"Absorbed decoding is of the variant 'latent'; received a run of {trace.variant!r}."
        )
    length = len(trace.query_tokens)
    if not 1 <= n_queries <= length:
        raise AttnvizError(f"n_queries must be from 1 to {length}; received {n_queries}.")
    allowed = None if trace.allowed is None else trace.allowed[:, :, -n_queries:]
    scale = float(trace.options["scale"]) * yarn_scale(trace.options)
    rotated = "_rotated" if "key_position_rotated" in trace.names else ""
    query = trace["query_heads"].tensor[:, :, -n_queries:]
    turned = trace[f"query_position{rotated or '_heads'}"].tensor[:, :, -n_queries:]
    cached = {
        "latent": trace["latent_normed"].tensor,
        "key_position": trace[f"key_position{rotated}"].tensor,
    }
    given = (query, turned, cached, trace.parameters, allowed, scale)
    return naive(*given), absorbed(*given)


def naive(
    query: Float[Tensor, "batch heads queries d_h"],
    query_position: Float[Tensor, "batch heads queries d_rope"],
    cached: Mapping[str, Tensor],
    W: Mapping[str, Tensor],
    allowed: Bool[Tensor, "#batch #heads queries keys"] | None,
    scale: float,
) -> Decoding:
    """Keys and values of all heads from all cached latents, then attention as usual."""
    H, latent = query.shape[1], cached["latent"]
    key = split_heads(latent @ W["W_uk"], H)  # (B, H, T, d_h)
    value = split_heads(latent @ W["W_uv"], H)  # (B, H, T, d_v)
    shared = cached["key_position"][:, None].expand(-1, H, -1, -1)
    joined = torch.cat([key, shared], dim=-1)  # (B, H, T, d_h + d_R)
    scores = torch.cat([query, query_position], dim=-1) @ joined.mT
    weights = softmax(hide(scores * scale, allowed))
    output = concatenate_heads(weights @ value) @ W["W_o"]
    return Decoding(cached, {"key": key, "value": value}, scores, weights, output)


def absorbed(
    query: Float[Tensor, "batch heads queries d_h"],
    query_position: Float[Tensor, "batch heads queries d_rope"],
    cached: Mapping[str, Tensor],
    W: Mapping[str, Tensor],
    allowed: Bool[Tensor, "#batch #heads queries keys"] | None,
    scale: float,
) -> Decoding:
    """Queries carried over to the latents' space, and outputs carried back from it."""
    H, latent = query.shape[1], cached["latent"][:, None]  # (B, 1, T, d_c): one head
    carried = query @ _by_head(W["W_uk"], H).mT  # (B, H, T_q, d_c)
    scores = carried @ latent.mT + query_position @ cached["key_position"][:, None].mT
    weights = softmax(hide(scores * scale, allowed))
    mixed = weights @ latent  # (B, H, T_q, d_c): latents, not values
    output = concatenate_heads(mixed @ _by_head(W["W_uv"], H)) @ W["W_o"]
    return Decoding(cached, {}, scores, weights, output)


def _by_head(
    matrix: Float[Tensor, "n_in channels"], n_heads: int
) -> Float[Tensor, "{n_heads} n_in head_dim"]:
    return matrix.unflatten(1, (n_heads, -1)).transpose(0, 1)

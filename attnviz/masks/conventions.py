"""The same mask in the conventions of others, and back. The only place where polarity changes.

| function             | dtype | allowed | blocked   | who takes it                                |
|----------------------|-------|---------|-----------|---------------------------------------------|
| `to_sdpa`, and ours  | bool  | True    | False     | scaled_dot_product_attention                |
| `to_zero_one`        | float | 1       | 0         | papers; transformers' attention_mask        |
| `to_additive`        | float | 0       | -inf      | scaled_dot_product_attention, the formula   |
| `to_finite_additive` | float | 0       | finfo.min | transformers' eager models                  |
| `to_multihead`       | bool  | False   | True      | nn.MultiheadAttention, attn_mask            |
| `to_key_padding`     | bool  | False   | True      | nn.MultiheadAttention, key_padding_mask     |
"""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attnviz.errors import AttnvizError
from attnviz.masks.tensor import four_axes

Allowed = Bool[Tensor, "#batch #heads queries keys"]


def to_zero_one(
    allowed: Bool[Tensor, "*shape"], dtype: torch.dtype = torch.float32
) -> Float[Tensor, "*shape"]:
    """1 where allowed, 0 where blocked."""
    return allowed.to(dtype)


def to_additive(
    allowed: Bool[Tensor, "*shape"], dtype: torch.dtype = torch.float32
) -> Float[Tensor, "*shape"]:
    """0 where allowed, -inf where blocked: added to the scores before the softmax."""
    return _added(allowed, dtype, -torch.inf)


def to_finite_additive(
    allowed: Bool[Tensor, "*shape"], dtype: torch.dtype = torch.float32
) -> Float[Tensor, "*shape"]:
    """0 where allowed, the most negative finite number where blocked (transformers, eager).

    An empty row of it is a constant, so its softmax is uniform, silently.
    """
    return _added(allowed, dtype, torch.finfo(dtype).min)


def _added(allowed: Tensor, dtype: torch.dtype, blocked: float) -> Tensor:
    zeros = torch.zeros(allowed.shape, dtype=dtype, device=allowed.device)
    return zeros.masked_fill(~allowed, blocked)


def to_sdpa(
    allowed: Bool[Tensor, "*shape"],
) -> Bool[Tensor, "*shape"]:
    """True keeps: `scaled_dot_product_attention(attn_mask=...)` has the polarity used here."""
    return allowed.contiguous()


def to_multihead(
    allowed: Bool[Tensor, "#batch #heads queries keys"], batch: int = 1, n_heads: int = 1
) -> Tensor:
    """True blocks: the attn_mask of `nn.MultiheadAttention`.

    Bool (Tq, Tk) where the mask is one for all, else (batch * n_heads, Tq, Tk), example by example
    and head by head, which is how that module flattens them.
    """
    if allowed.shape[:2] == (1, 1):
        return ~allowed[0, 0]
    n_queries, n_keys = allowed.shape[2:]
    if allowed.shape[0] not in (1, batch) or allowed.shape[1] not in (1, n_heads):
        raise AttnvizError(
            f"The mask must be for {batch} examples and {n_heads} heads, or one for all; received "
            f"shape {tuple(allowed.shape)}."
        )
    return ~allowed.expand(batch, n_heads, n_queries, n_keys).reshape(-1, n_queries, n_keys)


def to_key_padding(
    allowed: Bool[Tensor, "batch heads queries keys"],
) -> Bool[Tensor, "batch keys"]:
    """True blocks: the key_padding_mask of `nn.MultiheadAttention`, (B, Tk).

    Only a mask that hides the same keys from every query and head can be written so; else
    AttnvizError.
    """
    by_key = allowed[:, 0, 0]  # (B, Tk)
    if not bool((allowed == by_key[:, None, None]).all()):
        raise AttnvizError(
            "A key padding mask hides the same keys from every query and head; this mask differs "
            "between them, so pass it as attn_mask instead."
        )
    return ~by_key


def from_zero_one(mask: Tensor) -> Allowed:
    """From 1 = allowed, 0 = blocked, of any number type; (Tq, Tk), (B, Tq, Tk) or four axes."""
    _only(mask, (mask == 0) | (mask == 1), "A 0/1 mask holds only 0 and 1")
    return four_axes(mask == 1)


def from_additive(mask: Tensor) -> Allowed:
    """From 0 = allowed and -inf (or finfo.min) = blocked.

    A value between them is a bias and changes weights without hiding a key: AttnvizError.
    """
    if not mask.is_floating_point():
        raise AttnvizError(
            f"An additive mask holds floating-point 0 and -inf; received {mask.dtype}."
        )
    blocked = mask <= torch.finfo(mask.dtype).min
    _only(mask, (mask == 0) | blocked, "An additive mask holds only 0 and -inf (or finfo.min)")
    return four_axes(~blocked)


def from_sdpa(mask: Tensor) -> Allowed:
    """From the attn_mask of `scaled_dot_product_attention`: bool (True keeps) or additive."""
    return four_axes(mask) if mask.dtype == torch.bool else from_additive(mask)


def from_multihead(mask: Tensor, batch: int = 1, n_heads: int = 1) -> Allowed:
    """From the attn_mask of `nn.MultiheadAttention`: (Tq, Tk) or (batch * n_heads, Tq, Tk).

    Bool (True blocks) or additive.
    """
    allowed = ~mask if mask.dtype == torch.bool else from_additive(mask).reshape(mask.shape)
    if mask.ndim == 2:
        return allowed[None, None]
    if mask.ndim == 3 and mask.shape[0] == batch * n_heads:
        return allowed.reshape(batch, n_heads, *mask.shape[1:])
    raise AttnvizError(
        f"A mask of nn.MultiheadAttention must be (queries, keys) or ({batch * n_heads}, queries, "
        f"keys) for {batch} examples and {n_heads} heads; received shape {tuple(mask.shape)}."
    )


def from_key_padding(mask: Tensor) -> Allowed:
    """From the key_padding_mask of `nn.MultiheadAttention`: bool (B, Tk), True blocks.

    transformers' attention_mask is the opposite (1 = real token): pass `attention_mask == 0`.
    """
    if mask.dtype != torch.bool or mask.ndim != 2:
        raise AttnvizError(
            f"A key padding mask must be boolean of shape (batch, keys), True for blocked; "
            f"received {mask.dtype} of shape {tuple(mask.shape)}."
        )
    return ~mask[:, None, None, :]


def _only(mask: Tensor, known: Tensor, sentence: str) -> None:
    if not bool(known.all()):
        value = mask[~known].flatten()[0].item()
        raise AttnvizError(f"{sentence}; received {value:g}.")

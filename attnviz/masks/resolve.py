"""From whatever a caller holds to the one tensor that the computation uses."""

from __future__ import annotations

import torch
from jaxtyping import Bool
from torch import Tensor

from attnviz.errors import AttnvizError, EmptyRowError
from attnviz.masks.mask import Mask
from attnviz.masks.tensor import four_axes


def as_allowed(
    mask: Mask | Tensor | None,
    batch: int,
    n_heads: int,
    n_queries: int,
    n_keys: int,
    *,
    device: torch.device | str | None = None,
) -> Bool[Tensor, "#batch #heads queries keys"] | None:
    """The mask as a boolean tensor of four axes, True = allowed, or None where nothing is hidden.

    Takes a `Mask` or a boolean tensor: (Tq, Tk) for all, (B, Tq, Tk) one per example (it gets its
    head axis here, so that B == H is never mistaken for one per head), (B, H, Tq, Tk); batch and
    heads may be 1. Raises AttnvizError, in a sentence, for any other shape or dtype.
    """
    if mask is None:
        return None
    if isinstance(mask, Mask):
        allowed = mask.allowed(n_queries, n_keys, device=device)
        received = f"'{mask.name}' of shape {tuple(allowed.shape)}"
    elif isinstance(mask, Tensor):
        allowed = four_axes(mask if device is None else mask.to(device))
        received = f"shape {tuple(mask.shape)}"
    else:
        raise AttnvizError(
            f"A mask must be a Mask, a boolean tensor or None; received {type(mask).__name__}."
        )
    expected = (batch, n_heads, n_queries, n_keys)
    fits = allowed.shape[0] in (1, batch) and allowed.shape[1] in (1, n_heads)
    if fits and allowed.shape[2] in (1, n_queries) and allowed.shape[3] == n_keys:
        return allowed.expand(*allowed.shape[:2], n_queries, n_keys)
    raise AttnvizError(_misfit(received, allowed, expected, mask))


def _misfit(received: str, allowed: Tensor, expected: tuple[int, ...], mask: object) -> str:
    batch, n_heads, n_queries, n_keys = expected
    sentence = (
        f"The mask must fit (batch, heads, queries, keys) = {expected}, or ({n_queries}, {n_keys}) "
        f"or ({batch}, {n_queries}, {n_keys}); received {received}"
    )
    if isinstance(mask, Tensor) and mask.ndim == 3 and mask.shape[0] == n_heads:
        return f"{sentence}; a mask for each head needs four axes, (1, {n_heads}, queries, keys)."
    if isinstance(mask, Tensor) and mask.shape == (batch, n_keys):
        return f"{sentence}; a key padding mask is converted with masks.from_key_padding."
    if isinstance(mask, Mask) and allowed.shape[0] not in (1, batch):
        return f"{sentence}; give padding one length for each of the {batch} examples."
    return f"{sentence}."


def empty_rows(
    allowed: Bool[Tensor, "batch heads queries keys"],
) -> Bool[Tensor, "batch heads queries"]:
    """True where a query has no key it may look at."""
    return ~allowed.any(dim=-1)


def require_no_empty_rows(
    allowed: Bool[Tensor, "batch heads queries keys"], tokens: tuple[str, ...] = ()
) -> None:
    """Raise EmptyRowError, naming the first such row, if a query has no key it may look at.

    A softmax over no keys is 0/0: what it should be is the caller's decision.
    """
    empty = empty_rows(allowed)
    if not bool(empty.any()):
        return
    example, head, row = (int(index) for index in empty.nonzero()[0])
    where = f"Query {row}" + (f" ({tokens[row]!r})" if row < len(tokens) else "")
    where += f" of example {example}" if empty.shape[0] > 1 else ""
    where += f" in head {head}" if empty.shape[1] > 1 else ""
    others = int(empty.sum()) - 1
    more = f", and {others} more like it" if others else ""
    raise EmptyRowError(
        f"{where} has no key it may look at{more}: a softmax needs at least one; allow a key in "
        f'that row, or choose empty_rows="zero" to give it weights and output of zero.'
    )

"""What one token does to a recurrent mixer's state: how much fades, is erased, and is written."""

from __future__ import annotations

from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor

from attnviz.trace import Trace
from attnviz.variants.recurrent import recurrence_of, state_at


@dataclass(frozen=True)
class Change:
    """after = kept - erased + written, each (batch, heads, d_k, columns).

    columns are the value channels, and the normaliser's after them where there is one.
    """

    before: Float[Tensor, "batch heads d_k columns"]
    kept: Float[Tensor, "batch heads d_k columns"]  # Diag(alpha_t) S_{t-1}
    erased: Float[Tensor, "batch heads d_k columns"] | None  # k_t e_t^T; None: nothing ever is
    written: Float[Tensor, "batch heads d_k columns"]  # k_t (u_t + e_t)^T = beta_t k_t v_t^T
    after: Float[Tensor, "batch heads d_k columns"]


def change_at(trace: Trace, token: int) -> Change:
    """The change that a token made. Raises AttnvizError where there is no state, or no token."""
    driven, after = recurrence_of(trace), state_at(trace, token)
    before = state_at(trace, token - 1)
    key = driven.key[:, :, token, :, None]  # (B, H, d_k, 1)
    kept = driven.log_decay[:, :, token, :, None].exp() * before
    asked = (key * kept).sum(-2)  # what the state answers to this key
    strength = driven.strength[:, :, token, None]
    return Change(
        before=before,
        kept=kept,
        erased=key * (strength * asked)[..., None, :] if driven.erases else None,
        written=key * (strength * driven.values[:, :, token])[..., None, :],
        after=after,
    )

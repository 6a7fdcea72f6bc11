"""RWKV's WKV: for each channel a softmax over the tokens so far, decaying with distance.

Peng et al. 2023, RWKV (arXiv:2305.13048), equation 16, of a channel with decay w and bonus u:

    o_t = (sum_{i<t} e^{-(t-1-i)w + k_i} v_i + e^{u + k_t} v_t) / (the same sums without v)

Weights are formed as exp(what is asked - the row's log-sum-exp), in float64 because (t-1-i)w grows
with the text: nothing overflows, and no weight is negative.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

import torch
from jaxtyping import Float, Float64, Int
from torch import Tensor

from attnviz.models.mixers.drive import Drive, Strips, averaging
from attnviz.models.mixers.tiles import CELLS, state_norms
from attnviz.variants.chunked import walk
from attnviz.variants.recurrence import Recurrence


@dataclass(frozen=True)
class WkvDrive(Drive):
    """Every channel is a head, d_v is 1."""

    key: Float[Tensor, "heads length"] = field(kw_only=True)
    rate: Float[Tensor, " heads"] = field(kw_only=True)  # w, above 0
    bonus: Float[Tensor, " heads"] = field(kw_only=True)  # u

    says: ClassVar[str] = (
        "of every channel of RWKV's WKV what its output, before the receptance gate, takes from "
        "each token's value: exact, no weight is negative, and rows add up to 1. A channel's state "
        "is shown as the weighted mean of its values so far."
    )
    nature: ClassVar[str] = "shares"

    def tile(
        self, heads: slice, rows: Int[Tensor, " rows"], cols: Int[Tensor, " cols"]
    ) -> Float[Tensor, "heads rows cols"]:
        key, rate, own, before = self._logs(heads)
        total = torch.logaddexp(before, own)  # (H, T)
        out = torch.zeros(len(key), len(rows), len(cols))
        step = max(1, CELLS // max(1, len(key) * len(cols)))
        for first in range(0, len(rows), step):
            some = rows[first : first + step]
            gap = some[:, None] - 1 - cols  # (rows, cols); -1 on the diagonal
            asked = key[:, None, cols] - gap * rate[:, None, None]
            asked = torch.where(gap < 0, own[:, None, cols], asked)
            asked = asked.masked_fill(gap < -1, -torch.inf)
            out[:, first : first + step] = (asked - total[:, some, None]).exp()
        return out

    def pooled(
        self, heads: slice, bins: Int[Tensor, " length"], size: int
    ) -> Float[Tensor, "heads size size"]:
        """By the recurrence, a token later: a token reads the state before it writes to it."""
        r = self.recurrence(heads)
        _, _, own, before = self._logs(heads)
        P = averaging(bins, size, r.key)
        later = replace(
            r,
            log_decay=_later(r.log_decay),
            strength=_later(r.strength[..., None])[..., 0],
            value=_later(P.expand(1, r.key.shape[1], *P.shape)),
        )
        of_state = (before - own).sigmoid().float()[..., None]  # (H, T, 1), 1 - the token's own
        out = (P * (1 - of_state)).mT @ P
        for tokens, read, _ in walk(later, later.start(None)):
            out += P[tokens].mT @ (read[0] * of_state[:, tokens])
        return out

    def strips(self, head: int, chunk: int) -> Strips:
        """The state as the weighted mean of the values so far, of which a token takes a share."""
        r = self.recurrence(slice(head, head + 1))
        places, norms = state_norms(r, chunk)
        return Strips(1 - r.strength[0, 0], r.strength[0, 0], places, norms[0])

    def recurrence(self, heads: slice) -> Recurrence:
        """S_t, the weighted mean of the values up to t: what a token writes and fades adds to 1."""
        key, rate, _, before = self._logs(heads)
        faded = before - rate[:, None]
        held = torch.logaddexp(faded, key)  # (H, T), after the token
        ones = torch.ones(1, *key.shape, 1)
        log_decay = (faded - held).float()
        log_decay[:, 0] = 0.0  # of nothing yet
        return Recurrence(
            query=ones,
            key=ones,
            value=self.value[heads][None].float().cpu(),
            log_decay=log_decay[None, ..., None],
            strength=(key - held).exp().float()[None],
        )

    def _logs(self, heads: slice) -> tuple[Float64[Tensor, "heads length"], Tensor, Tensor, Tensor]:
        """(k, w (H,), u + k, the logarithm of the sum that each token reads), on the CPU."""
        key, rate, bonus = (t[heads].cpu().double() for t in (self.key, self.rate, self.bonus))
        place = torch.arange(self.length) * rate[:, None]  # (H, T)
        held = (key + place).logcumsumexp(-1) - place
        nothing = torch.full_like(held[:, :1], -torch.inf)
        return key, rate, bonus[:, None] + key, torch.cat([nothing, held[:, :-1]], -1)


def _later(tokens: Float[Tensor, "one heads length d"]) -> Float[Tensor, "one heads length d"]:
    return torch.cat([torch.zeros_like(tokens[:, :, :1]), tokens[:, :, :-1]], dim=2)

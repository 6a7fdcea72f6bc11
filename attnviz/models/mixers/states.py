"""What drives the states of some heads of one layer, as the layer's kernel got it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import torch
from jaxtyping import Float, Int
from torch import Tensor

from attnviz.models.mixers.drive import Drive, Strips
from attnviz.models.mixers.tiles import pooled, state_norms, tile
from attnviz.variants.gates import unit_length
from attnviz.variants.recurrence import Recurrence


@dataclass(frozen=True)
class StateDrive(Drive):
    """Neighbouring heads share a query and a key where there are fewer groups.

    The log decay is either kept, or is rates times strength (Mamba's A times its step).
    """

    query: Float[Tensor, "groups length d_k"] = field(kw_only=True)
    key: Float[Tensor, "groups length d_k"] = field(kw_only=True)
    strength: Float[Tensor, "heads length"] = field(kw_only=True)
    log_decay: Float[Tensor, "heads length #d_k"] | None = None
    rates: Float[Tensor, "heads channels"] | None = None  # a channel for each d_k, or 1
    scale: float = 1.0
    erases: bool = False  # a delta rule
    unit: bool = False  # queries and keys are made one long
    skip: Float[Tensor, " heads"] | None = None

    says: ClassVar[str] = (
        "what each token's output takes from each token, exact but signed; "
        "rows need not add up to 1 and no cell is a probability."
    )

    @property
    def n_groups(self) -> int:
        return self.query.shape[0]

    def recurrence(self, heads: slice) -> Recurrence:
        """These heads' recurrence, as a batch of one."""
        chosen = range(*heads.indices(self.n_heads))
        share = self.n_heads // self.n_groups
        groups = sorted({head // share for head in chosen})
        q, k = self.query[groups].float(), self.key[groups].float()  # (groups, T, d_k)
        if self.unit:
            q, k = unit_length(q), unit_length(k)
        place = [groups.index(head // share) for head in chosen]
        strength = self.strength[heads].float()
        if self.log_decay is not None:
            log_decay = self.log_decay[heads].float()
        elif self.rates is not None:
            log_decay = self.rates[heads, None].float() * strength[..., None]
        else:
            log_decay = torch.zeros_like(strength)[..., None]
        return Recurrence(
            query=q[place][None],
            key=k[place][None],
            value=self.value[heads][None].float(),
            log_decay=log_decay[None],
            strength=strength[None],
            scale=self.scale,
            erases=self.erases,
            skip=None if self.skip is None else self.skip[heads].float(),
        )

    def tile(
        self, heads: slice, rows: Int[Tensor, " rows"], cols: Int[Tensor, " cols"]
    ) -> Float[Tensor, "heads rows cols"]:
        return tile(self.recurrence(heads), rows, cols)

    def pooled(
        self, heads: slice, bins: Int[Tensor, " length"], size: int
    ) -> Float[Tensor, "heads size size"]:
        return pooled(self.recurrence(heads), bins, size)

    def strips(self, head: int, chunk: int) -> Strips:
        r = self.recurrence(slice(head, head + 1))
        places, norms = state_norms(r, chunk)
        return Strips(r.log_decay[0, 0].exp().mean(-1), r.strength[0, 0], places, norms[0])

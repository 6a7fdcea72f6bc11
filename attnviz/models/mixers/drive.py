"""What drives the states of some heads of one layer, as the layer's kernel got it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace

import torch
from jaxtyping import Float
from torch import Tensor

from attnviz.variants.gates import unit_length
from attnviz.variants.recurrence import Recurrence


@dataclass(frozen=True)
class Drive:
    """One text's tensors, kept in the model's dtype; worked with in float32.

    Neighbouring heads share a query and a key where there are fewer groups. The log decay is
    either kept, or is rates times strength (Mamba's A times its step).
    """

    query: Float[Tensor, "groups length d_k"]
    key: Float[Tensor, "groups length d_k"]
    value: Float[Tensor, "heads length d_v"]
    strength: Float[Tensor, "heads length"]
    log_decay: Float[Tensor, "heads length #d_k"] | None = None
    rates: Float[Tensor, "heads channels"] | None = None  # a channel for each d_k, or 1
    scale: float = 1.0
    erases: bool = False  # a delta rule
    unit: bool = False  # queries and keys are made one long
    skip: Float[Tensor, " heads"] | None = None

    @property
    def n_heads(self) -> int:
        return self.strength.shape[0]

    def recurrence(self, heads: slice) -> Recurrence:
        """These heads' recurrence, as a batch of one."""
        chosen = range(*heads.indices(self.n_heads))
        share = self.n_heads // self.query.shape[0]
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

    def tensors(self) -> tuple[Tensor, ...]:
        kept = (getattr(self, field.name) for field in fields(self))
        return tuple(each for each in kept if isinstance(each, Tensor))

    def mapped(self, change: Callable[[Tensor], Tensor]) -> Drive:
        """The same with every tensor put through a function: moved, or kept in a file."""
        changed = {
            field.name: change(value)
            for field in fields(self)
            if isinstance(value := getattr(self, field.name), Tensor)
        }
        return replace(self, **changed)

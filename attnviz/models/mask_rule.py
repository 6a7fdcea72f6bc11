"""Which keys a captured layer lets each query see, as a rule where a rule says it all.

A causal or sliding-window mask is two comparisons of positions; keeping its T x T tensor for
every layer would cost more than the queries and keys. A mask that arrived as a tensor is kept
as a rule only if the rule reproduces it cell by cell.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Int
from torch import Tensor

BLOCK = 512  # rows compared at a time


@dataclass(frozen=True)
class MaskRule:
    """Keys j that query i may see.

    causal: j <= i. window w: the last w keys, i - w < j <= i, where causal; else both sides,
    |i - j| <= w (transformers counts so). table: anything else, True = allowed.
    """

    causal: bool
    window: int | None = None
    table: Bool[Tensor, "#heads queries keys"] | None = None

    def allowed(
        self, rows: Int[Tensor, " rows"], cols: Int[Tensor, " cols"]
    ) -> Bool[Tensor, "#heads rows cols"] | None:
        """The mask of these queries and keys (positions); None when all pairs are allowed."""
        if self.table is not None:
            return self.table[:, rows][:, :, cols]
        if not len(rows) or not len(cols):
            return None
        first, last = int(rows[0]), int(rows[-1])
        left, right = int(cols[0]), int(cols[-1])
        reach = self.window
        behind = reach is None or left > last - reach + (0 if self.causal else -1)
        ahead = right <= first if self.causal else reach is None or right <= first + reach
        if behind and ahead:
            return None
        distance = rows[:, None] - cols[None, :]  # (rows, cols)
        if self.causal:
            seen = distance >= 0
            if reach is not None:
                seen &= distance < reach
        elif reach is not None:
            seen = distance.abs() <= reach
        else:
            return None
        return seen[None]

    def of_pairs(
        self, rows: Int[Tensor, " pairs"], cols: Int[Tensor, " pairs"]
    ) -> Bool[Tensor, "#heads pairs"] | None:
        """The mask of single pairs of a query and a key; None when all pairs are allowed."""
        if self.table is not None:
            return self.table[:, rows, cols]
        distance = rows - cols
        if self.causal:
            seen = distance >= 0
            return (seen if self.window is None else seen & (distance < self.window))[None]
        return None if self.window is None else (distance.abs() <= self.window)[None]

    def reach(self, rows: slice, n_keys: int) -> slice:
        """The keys outside of which none of these consecutive queries sees anything."""
        if self.table is not None:
            return slice(0, n_keys)
        start, stop = 0, n_keys
        if self.causal:
            stop = min(stop, rows.stop)
        elif self.window is not None:
            stop = min(stop, rows.stop + self.window)
        if self.window is not None:
            start = max(0, rows.start - self.window + (1 if self.causal else 0))
        return slice(start, stop)

    def edge(self, rows: slice) -> int:
        """The first key that any of these consecutive queries may be kept from."""
        plain = self.causal and self.window is None and self.table is None
        return rows.start if plain else 0

    def to(self, device: torch.device | str) -> MaskRule:
        if self.table is None:
            return self
        return MaskRule(self.causal, self.window, self.table.to(device))


def rule_of(
    mask: Bool[Tensor, "#heads queries keys"], causal: bool, window: int | None
) -> MaskRule:
    """The shortest rule that reproduces this mask exactly; else the mask itself."""
    candidates = [MaskRule(causal=True), MaskRule(causal=False)]
    if window is not None:
        candidates = [MaskRule(True, window), MaskRule(False, window), *candidates]
    for rule in candidates:
        if _same(rule, mask):
            return rule
    return MaskRule(causal=causal, window=window, table=mask)


def among(
    chosen: Int[Tensor, "batch queries k"], mask: Tensor | None, n_queries: int, n_keys: int
) -> Bool[Tensor, "batch heads queries keys"]:
    """The mask of a layer whose queries choose their keys (DeepSeek's sparse attention)."""
    allowed = torch.zeros(len(chosen), n_queries, n_keys, dtype=torch.bool, device=chosen.device)
    allowed = allowed.scatter(-1, chosen.long(), True)[:, None]
    if mask is None:
        return allowed & torch.ones_like(allowed).tril(n_keys - n_queries)
    if mask.dtype != torch.bool:
        mask = mask > torch.finfo(mask.dtype).min / 2
    return allowed & mask


def _same(rule: MaskRule, mask: Bool[Tensor, "#heads queries keys"]) -> bool:
    n_queries, n_keys = mask.shape[1:]
    cols = torch.arange(n_keys, device=mask.device)
    for start in range(0, n_queries, BLOCK):
        rows = torch.arange(start, min(start + BLOCK, n_queries), device=mask.device)
        part = mask[:, rows]
        seen = rule.allowed(rows, cols)
        if not (bool(part.all()) if seen is None else torch.equal(seen.expand_as(part), part)):
            return False
    return True

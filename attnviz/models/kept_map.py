"""A layer's maps as the model returned them: whole, where its code offers nothing less."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import torch
from jaxtyping import Float, Int
from torch import Tensor

from attnviz.metrics.heads import NAMES, mean_rows, row_metrics
from attnviz.models.layer import Layer
from attnviz.models.layers import LayerRecord, of_heads
from attnviz.models.mask_rule import MaskRule
from attnviz.models.stream import ROWS, Streamed, bins, blocks


@dataclass(frozen=True)
class KeptMap(LayerRecord):
    """A record without queries and keys: its scores are the logarithms of its weights.

    row_max and row_log_sum are such that a weight is exp(score - row_max - row_log_sum) and the
    largest weight of a row exp(-row_log_sum), as in any record.
    """

    maps: Float[Tensor, "heads queries keys"] = field(kw_only=True)  # float32, on the CPU

    def tensors(self) -> tuple[Tensor, ...]:
        """All that is kept."""
        kept = (self.maps, self.rule.table, self.row_max, self.row_log_sum)
        return tuple(tensor for tensor in kept if tensor is not None)

    def scores(self, heads: slice, rows: slice, cols: slice) -> Float[Tensor, "heads rows cols"]:
        """The logarithms of the weights."""
        return self.maps[heads, rows, cols].log()

    def weights(self, heads: slice, rows: slice, cols: slice) -> Float[Tensor, "heads rows cols"]:
        """The weights of these heads, queries and keys, as the model computed them."""
        w = self.maps[heads, rows, cols]
        blocked = self.blocked(rows, cols)
        return w if blocked is None else w.masked_fill(of_heads(blocked, heads), 0.0)

    def pairs(
        self, rows: Int[Tensor, " pairs"], cols: Int[Tensor, " pairs"]
    ) -> Float[Tensor, "heads pairs"]:
        w, allowed = self.maps[:, rows, cols], self.rule.of_pairs(rows, cols)
        return w if allowed is None else w.masked_fill(~allowed, 0.0)

    def to(self, device: torch.device | str) -> LayerRecord:
        return replace(self, maps=self.maps.to(device))


def kept(layer: Layer, maps: Float[Tensor, "heads queries keys"], rule: MaskRule) -> KeptMap:
    """Whole maps as a layer's record."""
    maps = maps.detach().float().cpu()
    top = maps.amax(-1).log()  # (heads, queries); -inf for a row without any weight
    top = top.masked_fill(top == -torch.inf, 0.0)
    return KeptMap(
        layer,
        queries=maps.new_empty(*maps.shape[:2], 0),
        keys=maps.new_empty(maps.shape[0], maps.shape[2], 0),
        scale=1.0,
        rule=rule.to("cpu"),
        row_max=top,
        row_log_sum=-top,
        maps=maps,
    )


def summarised(record: KeptMap, size: int) -> Streamed:
    """Overview and metrics of whole maps, as stream() makes them of queries and keys.

    Rows of effective maps share nothing out, so their metrics are NaN.
    """
    heads, n_queries, n_keys = record.maps.shape
    bins_q, bins_k = bins(n_queries, size), bins(n_keys, size)
    pool = torch.zeros(n_keys, int(bins_k[-1]) + 1)
    pool[torch.arange(n_keys), bins_k] = 1.0
    pool /= pool.sum(0)  # each column averages its keys
    overview = torch.zeros(heads, int(bins_q[-1]) + 1, pool.shape[1])
    numbers = []
    for rows in blocks(n_queries, ROWS):
        p = record.weights(slice(None), rows, slice(None))
        overview.index_add_(1, bins_q[rows], p @ pool)
        if not record.layer.effective:
            numbers.append(row_metrics(p, rows.start))
    overview /= torch.bincount(bins_q)[None, :, None]
    none = torch.full((heads, len(NAMES)), torch.nan)
    return Streamed(record, overview, mean_rows(torch.cat(numbers, 1)) if numbers else none, None)

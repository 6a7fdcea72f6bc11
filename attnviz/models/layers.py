"""What a capture keeps of one attention layer: enough for any part of any head's map."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from attnviz.models.layer import Layer
from attnviz.models.mask_rule import MaskRule


@dataclass(frozen=True)
class LayerRecord:
    """Queries and keys after rotary embedding, and all that turns them into weights.

    A weight is exp(q k^T * scale + bias - row_max - row_log_sum), softly capped and masked
    where the layer does so. Keeping the log-sum-exp as its two parts loses no digits when
    scores are large.
    """

    layer: Layer
    queries: Float[Tensor, "heads queries dim"]
    keys: Float[Tensor, "kv_heads keys dim"]
    scale: float
    rule: MaskRule
    bias: Float[Tensor, "#heads queries keys"] | None = None  # added to the scaled scores
    added: Float[Tensor, "#heads queries keys"] | None = None  # a mask's finite part, after capping
    softcap: float | None = None
    sinks: Float[Tensor, "#heads #queries"] | None = None  # one more logit a row, without a value
    row_max: Float[Tensor, "heads queries"] | None = None
    row_log_sum: Float[Tensor, "heads queries"] | None = None

    @property
    def n_heads(self) -> int:
        return self.queries.shape[0]

    @property
    def n_queries(self) -> int:
        return self.queries.shape[1]

    @property
    def n_keys(self) -> int:
        return self.keys.shape[1]

    def tensors(self) -> tuple[Tensor, ...]:
        """All that is kept; layers may share masks and position biases."""
        kept = (self.queries, self.keys, self.bias, self.added, self.sinks, self.rule.table)
        kept += (self.row_max, self.row_log_sum)
        return tuple(tensor for tensor in kept if tensor is not None)

    @property
    def share(self) -> int:
        """Query heads on one key head: query head h reads key head h // share."""
        return self.n_heads // self.keys.shape[0]

    def scores(
        self, heads: slice, rows: slice, cols: slice, out: Tensor | None = None
    ) -> Float[Tensor, "heads rows cols"]:
        """Scaled scores of these heads, queries and keys, bias and soft-capping in, unmasked.

        out: memory to write them in.
        """
        dtype = torch.promote_types(self.queries.dtype, torch.float32)
        chosen = range(*heads.indices(self.n_heads))
        q = self.queries[heads, rows].to(dtype) * self.scale  # (heads, rows, d)
        groups = range(chosen[0] // self.share, chosen[-1] // self.share + 1)
        # One group, or whole ones: their keys are read where they are. Else each head's own.
        whole = len(groups) == 1 or len(chosen) == len(groups) * self.share
        k = (
            self.keys[groups.start : groups.stop, cols]
            if whole
            else self.keys[[head // self.share for head in chosen]][:, cols]
        ).to(dtype)
        shape = (len(q), q.shape[1], k.shape[1])
        s = torch.bmm(
            q.reshape(len(k), -1, q.shape[2]),
            k.transpose(1, 2),
            out=None if out is None else out.view(len(k), -1, k.shape[1]),
        )
        s = s.view(shape)
        if self.bias is not None:
            s += of_heads(self.bias, heads)[:, rows, cols]
        if self.softcap is not None:
            s.div_(self.softcap).tanh_().mul_(self.softcap)
        if self.added is not None:
            s += of_heads(self.added, heads)[:, rows, cols]
        return s

    def blocked(self, rows: slice, cols: slice) -> Bool[Tensor, "#heads rows cols"] | None:
        """True where the mask forbids the pair; None where it forbids none of these."""
        allowed = self.rule.allowed(*self.positions(rows, cols))
        return None if allowed is None else ~allowed

    def positions(self, rows: slice, cols: slice) -> tuple[Tensor, Tensor]:
        """The positions that these slices select, as index tensors."""
        where = self.queries.device
        return (
            torch.arange(*rows.indices(self.n_queries), device=where),
            torch.arange(*cols.indices(self.n_keys), device=where),
        )

    def weights(self, heads: slice, rows: slice, cols: slice) -> Float[Tensor, "heads rows cols"]:
        """The exact attention weights of these heads, queries and keys."""
        if self.row_max is None or self.row_log_sum is None:
            raise RuntimeError("this layer's rows have not been streamed yet")
        w = self.scores(heads, rows, cols)
        w -= self.row_max[heads, rows, None]
        w.sub_(self.row_log_sum[heads, rows, None]).exp_()
        blocked = self.blocked(rows, cols)
        # Masking afterwards: exp is ten times slower on scores of -3e38.
        return w if blocked is None else w.masked_fill_(of_heads(blocked, heads), 0.0)

    def sink_weights(self, heads: slice, rows: slice) -> Float[Tensor, "heads rows"]:
        """The weight that each row gives to its learned sink: 0 where the layer has none."""
        if self.row_max is None or self.row_log_sum is None:
            raise RuntimeError("this layer's rows have not been streamed yet")
        level = self.row_max[heads, rows] + self.row_log_sum[heads, rows]
        if self.sinks is None:
            return torch.zeros_like(level)
        return (of_queries(self.sinks[heads], rows).to(level.dtype) - level).exp()

    def pairs(
        self, rows: Int[Tensor, " pairs"], cols: Int[Tensor, " pairs"]
    ) -> Float[Tensor, "heads pairs"]:
        """The exact weights of all heads on these pairs of a query and a key, and on no others."""
        if self.row_max is None or self.row_log_sum is None:
            raise RuntimeError("this layer's rows have not been streamed yet")
        dtype = torch.promote_types(self.queries.dtype, torch.float32)
        q = self.queries[:, rows].to(dtype).unflatten(0, (-1, self.share))
        k = self.keys[:, cols].to(dtype)[:, None]  # one for the query heads that share it
        s = (q * k).sum(-1).flatten(0, 1) * self.scale
        if self.bias is not None:
            s = s + self.bias[:, rows, cols]
        if self.softcap is not None:
            s = (s / self.softcap).tanh() * self.softcap
        if self.added is not None:
            s = s + self.added[:, rows, cols]
        w = (s - self.row_max[:, rows] - self.row_log_sum[:, rows]).exp()
        allowed = self.rule.of_pairs(rows, cols)
        return w if allowed is None else w.masked_fill(~allowed, 0.0)

    def normalised(
        self, row_max: Float[Tensor, "heads queries"], row_log_sum: Float[Tensor, "heads queries"]
    ) -> LayerRecord:
        return replace(self, row_max=row_max, row_log_sum=row_log_sum)

    def to(self, device: torch.device | str) -> LayerRecord:
        def moved(tensor: Tensor | None) -> Tensor | None:
            return None if tensor is None else tensor.to(device)

        return replace(
            self,
            queries=self.queries.to(device),
            keys=self.keys.to(device),
            rule=self.rule.to(device),
            bias=moved(self.bias),
            added=moved(self.added),
            sinks=moved(self.sinks),
            row_max=moved(self.row_max),
            row_log_sum=moved(self.row_log_sum),
        )


def of_heads(tensor: Tensor, heads: slice) -> Tensor:
    """These heads' part of a tensor that may be shared by all heads."""
    return tensor if tensor.shape[0] == 1 else tensor[heads]


def of_queries(sinks: Tensor, rows: slice) -> Tensor:
    """These queries' part of sinks (heads, queries) that may be the same for all queries."""
    return sinks if sinks.shape[1] == 1 else sinks[:, rows]

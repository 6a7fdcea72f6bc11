"""Maps in which each weight counts by the size of what it brings: ||alpha_ij f(x_j)||.

Kobayashi et al. 2020, Attention is Not Only a Weight: Analyzing Transformers with Vector Norms
(arXiv:2004.10102), section 3: a head writes sum_j alpha_ij f(x_j) with f(x) = (x W_V + b_V) W_O,
W_O being the head's own rows of the output projection, whose bias is no token's. A large weight on
a vector near zero brings nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace

import numpy as np
import torch
from jaxtyping import Float, Float32, Int
from torch import Tensor

from attnviz.errors import AttnvizError
from attnviz.interventions.values import Values, values_of
from attnviz.models.captures import Capture, summary
from attnviz.models.kept_map import KeptMap, kept
from attnviz.models.layers import LayerRecord
from attnviz.models.loaded import LoadedModel, require_loaded
from attnviz.models.pooling import stacked
from attnviz.models.progress import Progress, silent

GATED_TOKENS = 256
"""The longest text of a gated layer: there each query has norms of its own for every key."""

Norms = Float[Tensor, "heads #queries keys"]
"""||f(x_j)|| of each head; of a gated layer ||g_i * v_j W_O||, for each query."""


@dataclass(frozen=True)
class WeightedRecord(LayerRecord):
    """A record whose weights are multiplied by a norm: exp(score + ln norm - log-sum-exp)."""

    log_norms: Norms = field(kw_only=True)

    def tensors(self) -> tuple[Tensor, ...]:
        return (*super().tensors(), self.log_norms)

    def scores(
        self, heads: slice, rows: slice, cols: slice, out: Tensor | None = None
    ) -> Float[Tensor, "heads rows cols"]:
        every = rows if self.log_norms.shape[1] > 1 else slice(None)
        return super().scores(heads, rows, cols, out).add_(self.log_norms[heads, every, cols])

    def pairs(
        self, rows: Int[Tensor, " pairs"], cols: Int[Tensor, " pairs"]
    ) -> Float[Tensor, "heads pairs"]:
        every = rows if self.log_norms.shape[1] > 1 else torch.zeros_like(rows)
        return super().pairs(rows, cols) * self.log_norms[:, every, cols].exp()


NOTE = (
    "Norms, not probabilities: a cell is the length of the vector that its token brings, "
    "weight × value × W_O (Kobayashi et al. 2020). Rows do not sum to 1. Small maps and "
    "the numbers of all heads are of shares, each row divided by its sum."
)
GATED = " The gate of these layers is counted in: it multiplies what each query reads."


@dataclass(frozen=True, eq=False)
class ValueWeighted(Capture):
    """Reads like a Capture; weights() gives norms, whose rows do not sum to 1.

    overview() and metrics() are of shares: each row of norms divided by its sum.
    """

    largest_of_rows: Mapping[int, Float[Tensor, "heads queries"]] = field(kw_only=True, repr=False)
    gated: tuple[int, ...] = ()  # layers

    @property
    def scale(self) -> str:
        return "magnitude"

    def tops(self, layer: int, head: int) -> Float32[np.ndarray, " rows"]:
        """The largest norm of each row of one head's map."""
        self._of_head(layer, head)
        return self.largest_of_rows[layer][head].float().numpy()

    def overview(self, size: int = 32) -> Float32[np.ndarray, "layers heads down across"]:
        """The shares at a glance, as the capture pools its weights (at its own size)."""
        return self.pooled


def value_norms(model: LoadedModel, capture: Capture, group: str | None = None) -> dict[int, Norms]:
    """||(x_j W_V + b_V) W_O|| of every head and key, by layer: a map is its weights times these.

    Of a layer with a gate behind its heads (Qwen3-Next) the gate is counted in, so that each
    query has its own: (heads, queries, keys) instead of (heads, 1, keys).

    Raises ModelError where a layer's values or projection cannot be reached, and AttnvizError for
    a gated layer on more than GATED_TOKENS tokens.
    """
    return {number: _norms(found) for number, found in values_of(model, capture, group).items()}


def value_weighted(
    model: LoadedModel,
    capture: Capture,
    group: str | None = None,
    progress: Progress | None = None,
) -> ValueWeighted:
    """The value-weighted maps of a capture, to be read as the capture is.

    Raises as value_norms does.
    """
    require_loaded(model)
    report = progress or silent
    part = capture.of(group)
    if not part.records:
        raise AttnvizError(
            f"{model.title} has no softmax layer here, whose weights could be weighed by values; "
            "an effective map holds all that its layer does."
        )
    report(0.05, "Reading the values")
    norms = value_norms(model, capture, group)
    records, tops, pooled, numbers = {}, {}, [], []
    for place, (number, record) in enumerate(part.records.items()):
        report(0.4 + 0.6 * place / len(part.records), f"Layer {place + 1} of {len(part.records)}")
        records[number], shares = _weighted(record, norms[number])
        seen = summary(shares, max(part.pooled.shape[-2:]))  # as the capture's own were made
        pooled.append(seen.overview.float().numpy())
        numbers.append(seen.metrics.float().numpy())
        tops[number] = _largest(records[number], seen.record)
    own = {each.name: getattr(part, each.name) for each in fields(Capture)}
    own |= {"records": records, "pooled": stacked(pooled, 4), "numbers": stacked(numbers, 3)}
    own |= {"mixers": {}, "parts": {}, "probabilities": None}
    gated = tuple(number for number, each in norms.items() if each.shape[1] > 1)
    own |= {"note": NOTE + (GATED if gated else "")}
    return ValueWeighted(**own, largest_of_rows=tops, gated=gated)


def _weighted(record: LayerRecord, norms: Norms) -> tuple[LayerRecord, LayerRecord]:
    """(the record of the norms, that of each row's shares of them, whose rows are softmaxes)."""
    if isinstance(record, KeptMap):
        maps = record.maps * norms
        sums = maps.sum(-1, keepdim=True)
        shares = torch.where(sums > 0, maps / sums, 0.0)
        return kept(record.layer, maps, record.rule), kept(record.layer, shares, record.rule)
    tiny = torch.finfo(norms.dtype).tiny
    own = {each.name: getattr(record, each.name) for each in fields(LayerRecord)}
    weighted = WeightedRecord(**own, log_norms=norms.clamp_min(tiny).log())
    # Streamed again, its rows are normalised by the sum of their norms, a sink's part left out.
    return weighted, replace(weighted, sinks=None)


def _largest(weighted: LayerRecord, shares: LayerRecord) -> Float[Tensor, "heads queries"]:
    """The largest norm of each row: that of its largest score, over the weights' own sum."""
    if isinstance(weighted, KeptMap):
        return weighted.maps.amax(-1)
    top, old, log_sum = shares.row_max, weighted.row_max, weighted.row_log_sum
    assert top is not None
    assert old is not None
    assert log_sum is not None
    return (top - old - log_sum).exp()


def _norms(found: Values) -> Norms:
    """One layer's. ||v W_O|| = ||R v|| with W_O^T = Q R: a head's width squared, not d_model."""
    if found.gate is not None and found.gate.shape[1] > GATED_TOKENS:
        raise AttnvizError(
            f"Layer {found.outlet.layer} gates what each query reads, so that norms are computed "
            f"for every pair of tokens: expected at most {GATED_TOKENS} tokens, not "
            f"{found.gate.shape[1]:,}; choose a shorter text."
        )
    heads = []
    for head in range(found.outlet.n_heads):
        W_O = found.outlet.weight_of(head).float().cpu()  # (width, d_model)
        R = torch.linalg.qr(W_O.T, mode="r").R  # (at most width, width)
        values = found.of_head(head)
        if found.gate is None:
            heads.append((values @ R.T).norm(dim=-1)[None])
        else:
            heads.append(torch.stack([((g * values) @ R.T).norm(dim=-1) for g in found.gate[head]]))
    return torch.stack(heads)

"""Run a model once on a text and keep what any part of any head's attention map needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float32

from attnviz.errors import AttnvizError, ModelError
from attnviz.metrics import patterns
from attnviz.metrics.heads import head_table
from attnviz.models.axis import Axis
from attnviz.models.check import CheckResult
from attnviz.models.grouped import Regroupable, grouped
from attnviz.models.kept_map import KeptMap, summarised
from attnviz.models.layer import STATES, Layer
from attnviz.models.layers import LayerRecord
from attnviz.models.mixers.record import MixerRecord, Strips
from attnviz.models.mixers.view import EffectiveMaps
from attnviz.models.pooling import largest, stacked, tops
from attnviz.models.slices import slice_of, span_of, whole_number
from attnviz.models.stream import Streamed, stream
from attnviz.models.tokens import screen_tokens


@dataclass(frozen=True, eq=False)
class Capture(Regroupable):
    """One run of one model on one text. Immutable; every number comes from that run.

    Of a model with several stacks of maps (encoder, decoder, cross) it is the first stack, and
    of() gives the others, each a Capture with axes and layers of its own.
    """

    model_name: str
    text: str
    tokens: tuple[str, ...]  # as shown
    token_details: tuple[str, ...]  # hover texts
    token_ids: tuple[int, ...]  # as sent to the model
    special: tuple[bool, ...]  # stands for no text: [CLS], <s>
    layers: tuple[Layer, ...]  # every layer of the model, captured or not
    check: CheckResult
    notes: tuple[str, ...]
    device: str
    dtype: str
    records: dict[int, LayerRecord] = field(repr=False)
    pooled: Float32[np.ndarray, "layers heads down across"] = field(repr=False)
    numbers: Float32[np.ndarray, "layers heads metrics"] = field(repr=False)
    probabilities: Float32[np.ndarray, " vocabulary"] | None = field(repr=False)
    tokenizer: Any = field(repr=False)
    mixers: dict[int, MixerRecord] = field(default_factory=dict, repr=False)
    group: str = "self"  # which stack of maps this is
    keys: Axis | None = field(default=None, repr=False)  # None: the keys are the tokens
    roles: tuple[str, ...] = ()  # who says each token, in a chat
    grid: tuple[int, int] | None = None  # (rows, columns) of a picture's patches
    patch: int = 0  # pixels along a side of one, in image
    image: np.ndarray | None = field(default=None, repr=False)  # (height, width, 3), as seen
    written: Axis | None = None  # the new tokens of generate=; the last of them was not read
    note: str = ""  # what these maps are, where they are not each query's softmax over keys
    parts: Mapping[str, Capture] = field(default_factory=dict, repr=False)  # the other stacks

    def __post_init__(self) -> None:
        for array in (self.pooled, self.numbers, self.probabilities):
            if array is not None:
                array.flags.writeable = False  # visitors share the capture

    @property
    def n_tokens(self) -> int:
        return len(self.token_ids)

    @property
    def n_keys(self) -> int:
        return self.n_tokens if self.keys is None else len(self.keys)

    @property
    def n_prompt(self) -> int:
        """Tokens that were given: all of them, but where the model wrote on."""
        return self.n_tokens - (0 if self.written is None else len(self.written) - 1)

    @property
    def key_tokens(self) -> tuple[str, ...]:
        """What stands along the keys: the tokens themselves, or in cross-attention the source."""
        return self.tokens if self.keys is None else self.keys.labels

    @property
    def groups(self) -> tuple[str, ...]:
        """The stacks of maps: ("self",), or ("encoder", "decoder", "cross")."""
        return (self.group, *self.parts)

    def of(self, group: str | None = None) -> Capture:
        """The maps of one group as a capture of its own; AttnvizError for one that is not there."""
        if group is None or group == self.group:
            return self
        if group not in self.groups:
            raise AttnvizError(
                f"{self.model_name} has the groups of maps {', '.join(self.groups)}; "
                f"{group!r} is not there."
            )
        return self.parts[group]

    @property
    def captured(self) -> tuple[Layer, ...]:
        """The layers whose maps these are, in order: the rows of overview()."""
        return tuple(at for at in self.layers if at.captured and at.kind not in STATES)

    @property
    def signed(self) -> bool:
        """These are no softmax weights but the effective maps of a mixer without a state."""
        return self.nature == "mixing"

    @property
    def nature(self) -> str:
        """Of effective maps what they are, as EffectiveMaps has it: here mixing, else nothing."""
        return "mixing" if any(layer.kind == "mixing" for layer in self.layers) else ""

    @property
    def effective(self) -> EffectiveMaps | None:
        """The linear and state-space layers, to be read like a capture; None: there are none."""
        return EffectiveMaps.of_run(self) if self.mixers else None

    @property
    def nbytes(self) -> int:
        """Bytes held, a tensor that several layers share counted once."""
        records = [*self.records.values(), *self.mixers.values()]
        kept = {t.data_ptr(): t.nbytes for record in records for t in record.tensors()}
        arrays = (self.pooled, self.numbers, self.probabilities)
        own = sum(kept.values()) + sum(a.nbytes for a in arrays if a is not None)
        return own + sum(part.nbytes for part in self.parts.values())

    def weights(
        self,
        layer: int,
        head: int,
        rows: slice | None = None,
        cols: slice | None = None,
        group: str | None = None,
        kind: str | None = None,
    ) -> Float32[np.ndarray, "rows cols"]:
        """The exact attention weights of one head: queries down, keys right, masked cells 0.

        layer is the model's own number; rows and cols are slices of token positions; group is
        one of groups, the first unless given. Of a linear or state-space layer it is the
        effective map, signed, whose output is A V; kind chooses ("linear", "state_space") where
        a layer has such a mixer beside its attention. Raises AttnvizError for a layer, head,
        slice or group that is not there, ModelError for a layer without a map.
        """
        own, layer = self.of(group), whole_number("layer", layer)
        softmax = layer in own.records and kind not in STATES
        record = own._of_head(layer, head) if softmax else own._mixer(layer, head, kind)
        shown = slice_of(rows, own.n_tokens), slice_of(cols, own.n_keys)
        part = record.weights(slice(head, head + 1), *shown)[0]
        return part.float().numpy()

    def largest(
        self,
        layer: int,
        head: int,
        block: int,
        rows: slice | None = None,
        cols: slice | None = None,
    ) -> tuple[Float32[np.ndarray, "down across"], Bool[np.ndarray, "down across"]]:
        """One head's map with a cell for each block x block cells: their largest weight.

        The second array is True where the mask forbids the whole block. rows and cols are spans
        without a step; the last blocks may be cut. Raises as weights() does.
        """
        record, block = self._of_head(layer, head), whole_number("block", block, 1)
        if self.signed:  # by magnitude
            return grouped(self).largest(layer, head, block, rows, cols)
        spans = [span_of(rows, self.n_tokens), span_of(cols, self.n_keys)]
        return largest(record, head, block, *spans)

    def tops(self, layer: int, head: int) -> Float32[np.ndarray, " rows"]:
        """The largest weight of each row of one head's map; the largest magnitude if signed."""
        record = self._of_head(layer, head)
        return grouped(self).tops(layer, head) if self.signed else tops(record, head)

    def blocked(
        self, layer: int, rows: slice | None = None, cols: slice | None = None
    ) -> Bool[np.ndarray, "rows cols"]:
        """True where this layer's mask forbids the pair, for head 0 where heads differ."""
        record = self._record(layer)
        i, j = record.positions(slice_of(rows, self.n_tokens), slice_of(cols, self.n_keys))
        allowed = record.rule.allowed(i, j)
        if allowed is None:
            return np.zeros((len(i), len(j)), dtype=bool)
        return ~allowed[0].numpy()

    def sink_weights(
        self, layer: int, head: int, rows: slice | None = None
    ) -> Float32[np.ndarray, " rows"]:
        """What each row of one head gives to the layer's learned sink: 1 minus its row's sum.

        exp(sink - the row's log-sum-exp), and 0 of a layer without one.
        """
        record = self._of_head(layer, head)
        shown = slice_of(rows, self.n_tokens)
        return record.sink_weights(slice(head, head + 1), shown)[0].float().numpy()

    def overview(self, size: int = 32) -> Float32[np.ndarray, "layers heads down across"]:
        """Every captured layer's maps at a glance, (layers, heads, size, size), NaN for no head.

        Each cell is the mean weight over its block of queries and keys, masked pairs counting
        as 0, accumulated during the run; shorter texts have a cell a token. Another size than
        the run's is computed again from the queries and keys.
        """
        size = whole_number("size", size, 1)
        shape = (min(size, self.n_tokens), min(size, self.n_keys))
        if not self.records or shape == self.pooled.shape[-2:]:
            return self.pooled
        records = [self.records[layer.index] for layer in self.captured]
        return stacked([summary(record, size).overview.float().numpy() for record in records], 4)

    def metrics(self) -> pd.DataFrame:
        """A row per (layer, head): metrics.heads.NAMES, then metrics.patterns.NAMES.

        The latter are NaN where the text repeats no token. Where the keys are another text's, so
        are they, and what counts places from the query's own: distance, previous and self.
        """
        heads = [(layer.index, layer.n_heads) for layer in self.captured]
        return head_table(self.numbers, heads, self.keys is not None).join(self._patterns)

    @cached_property
    def _patterns(self) -> pd.DataFrame:
        """Duplicate-token and induction scores in the order of metrics(), computed once."""
        if self.keys is not None:
            return pd.DataFrame(columns=list(patterns.NAMES), dtype=float)
        return patterns.pattern_scores(self).drop(columns=["layer", "head"])

    def next_tokens(self, k: int = 10) -> pd.DataFrame | None:
        """The k likeliest next tokens: token (as shown), token_id, probability; None: encoder."""
        if self.probabilities is None:
            return None
        best = np.argsort(self.probabilities)[::-1][: whole_number("k", k, 0)]
        labels = [screen_tokens(self.tokenizer, [int(token)])[0][0] for token in best]
        return pd.DataFrame(
            {"token": labels, "token_id": best, "probability": self.probabilities[best]}
        )

    def strips(self, layer: int, head: int) -> Strips:
        """What one head of a linear or state-space layer keeps, writes and holds, by token."""
        return self._mixer(layer, head).strips(head)

    def _mixer(self, layer: int, head: int, kind: str | None = None) -> MixerRecord:
        record = self.mixers.get(layer)
        if record is None or (kind is not None and record.layer.kind != kind):
            self._record(layer)  # says why there is no map at all
            raise ModelError(
                f"Layer {layer} has {'softmax' if record is None else record.layer.kind} maps, "
                f"not {kind or 'linear or state_space'} ones."
            )
        return _with_head(record, layer, head)

    def _of_head(self, layer: int, head: int) -> LayerRecord:
        return _with_head(self._record(layer), layer, head)

    def _record(self, layer: int) -> LayerRecord:
        layer = whole_number("layer", layer)
        if layer in self.records:
            return self.records[layer]
        known = next((other for other in self.layers if other.index == layer), None)
        if known is not None:
            reason = known.reason or "it has an effective map; ask for capture.effective"
            raise ModelError(f"Layer {layer} has no attention map: {reason}.")
        raise AttnvizError(
            f"{self.model_name} has layers 0 to {self.layers[-1].index}; layer {layer} is not "
            "there."
        )


Record = TypeVar("Record", LayerRecord, MixerRecord)


def _with_head(record: Record, layer: int, head: int) -> Record:
    if not 0 <= whole_number("head", head) < record.n_heads:
        raise AttnvizError(
            f"Layer {layer} has heads 0 to {record.n_heads - 1}; head {head} is not there."
        )
    return record


def summary(record: LayerRecord, size: int) -> Streamed:
    """Overview and metrics of a record, from its queries and keys or from its whole maps."""
    return summarised(record, size) if isinstance(record, KeptMap) else stream(record, size)

"""Maps of layers with a learned sink, drawn with one more column: what a row gives to no key.

A sink is one more logit in each row's softmax, without a value (gpt-oss: Agarwal et al. 2025,
section 2.2): the row's weights on keys add up to less than 1, and its weight is the rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float32

LABEL = "sink"
DETAIL = "the learned sink, a logit without a value: what this row gives to no key"


def has_sinks(capture: Any) -> bool:
    """Whether any of the maps shown has a sink. A sink has no value, and so no norm of one."""
    if getattr(capture, "scale", "weight") != "weight" or not hasattr(capture, "sink_weights"):
        return False
    return any(layer.sinks for layer in capture.captured)


def with_sinks(capture: Any) -> Any:
    """These maps with the sink as their last key, where a layer has one; else as they are.

    A layer without a sink beside others with one has the column too, masked.
    """
    return SinkColumn(capture) if has_sinks(capture) else capture


@dataclass(frozen=True)
class SinkColumn:
    """A capture whose maps have a column more. All else is the capture's own."""

    capture: Any

    def __getattr__(self, name: str) -> Any:
        return getattr(self.capture, name)

    @property
    def n_keys(self) -> int:
        return self.capture.n_keys + 1

    @property
    def key_tokens(self) -> tuple[str, ...]:
        return (*self.capture.key_tokens, LABEL)

    @property
    def records(self) -> None:
        """None: the capture's own do not know the sink for a key."""
        return

    def weights(
        self, layer: int, head: int, rows: slice | None = None, cols: slice | None = None
    ) -> Float32[np.ndarray, "rows cols"]:
        """The weights of one head, and after them what its rows give to the sink."""
        keys, sink = self._split(cols)
        values = self.capture.weights(layer, head, rows=rows, cols=keys)
        if not sink:
            return values
        return np.column_stack([values, self.capture.sink_weights(layer, head, rows)])

    def blocked(
        self, layer: int, rows: slice | None = None, cols: slice | None = None
    ) -> Bool[np.ndarray, "rows cols"]:
        """The layer's mask; it hides the sink where the layer has none."""
        keys, sink = self._split(cols)
        hidden = self.capture.blocked(layer, rows=rows, cols=keys)
        if not sink:
            return hidden
        return np.column_stack([hidden, np.full(len(hidden), not self._has(layer))])

    def largest(
        self,
        layer: int,
        head: int,
        block: int,
        rows: slice | None = None,
        cols: slice | None = None,
    ) -> tuple[Float32[np.ndarray, "down across"], Bool[np.ndarray, "down across"]]:
        """Each block's largest weight, the sink among the last block's keys or alone in its own."""
        keys, sink = self._split(cols)
        if not sink:
            return self.capture.largest(layer, head, block, rows=rows, cols=keys)
        column = self.capture.sink_weights(layer, head, rows)
        column = np.maximum.reduceat(column, np.arange(0, len(column), block))[:, None]
        hidden = np.full(column.shape, not self._has(layer))
        if keys.start == keys.stop:
            return column, hidden
        values, blocked = self.capture.largest(layer, head, block, rows=rows, cols=keys)
        if (keys.stop - keys.start) % block:  # the last block has room
            column, hidden = np.maximum(column, values[:, -1:]), hidden & blocked[:, -1:]
            values, blocked = values[:, :-1], blocked[:, :-1]
        return np.hstack([values, column]), np.hstack([blocked, hidden])

    def tops(self, layer: int, head: int) -> Float32[np.ndarray, " rows"]:
        """The largest weight of each row, the sink's included."""
        return np.maximum(self.capture.tops(layer, head), self.capture.sink_weights(layer, head))

    def overview(self, size: int = 32) -> Float32[np.ndarray, "layers heads down across"]:
        """The capture's, with each row's mean weight on the sink after it."""
        pooled = self.capture.overview(size)
        n_layers, n_heads, down, _ = pooled.shape
        column = np.full((n_layers, n_heads, down, 1), np.nan, np.float32)
        cells = np.arange(self.capture.n_tokens) * down // self.capture.n_tokens
        first = np.flatnonzero(np.diff(cells, prepend=-1))
        count = np.diff(first, append=len(cells))
        for place, layer in enumerate(self.capture.captured):
            for head in range(layer.n_heads):
                given = self.capture.sink_weights(layer.index, head)
                column[place, head, :, 0] = np.add.reduceat(given, first) / count
        return np.concatenate([pooled, column], axis=-1)

    def _has(self, layer: int) -> bool:
        return any(one.index == layer and one.sinks for one in self.capture.captured)

    def _split(self, cols: slice | None) -> tuple[slice, bool]:
        """The keys of these columns, and whether the sink is one of them."""
        start, stop, _ = (cols or slice(None)).indices(self.n_keys)
        return slice(min(start, self.capture.n_keys), min(stop, self.capture.n_keys)), (
            start < stop == self.n_keys
        )

"""A map read by words, and with special tokens left out: the same weights, added up or not shown.

A word attends to a word by the sum over the keys of the one and the mean over the queries of the
other (Clark et al. 2019, What Does BERT Look At?, section 4.1), so that rows still share out one
unit. Special tokens are left out by their index: no other cell changes, and rows then add up to
less than 1, unless they are asked to share out one unit anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float32, Int

from attnviz.errors import AttnvizError
from attnviz.models.axis import Axis
from attnviz.models.shown import Shown
from attnviz.models.sides import side_of
from attnviz.models.slices import slice_of, span_of, whole_number

CELLS = 2**20
"""Of the token map that are in memory at once: 4 MiB in float32."""


class Regroupable:
    """Maps that can be read by words and without special tokens."""

    def by_words(self) -> GroupedMaps:
        """These maps with a row and a column a word: sum over its keys, mean over its queries.

        Every row of softmax weights still adds up to 1. Special tokens stay words of their own.
        """
        return grouped(self, words=True)

    def without_special(self, renormalise: bool = False) -> GroupedMaps:
        """These maps without the rows and columns of special tokens, all other cells unchanged.

        Rows then add up to less than 1; renormalise: divide each by what is left of it, a row
        with nothing left staying 0.
        """
        return grouped(self, hide=True, renormalise=renormalise)


@dataclass(frozen=True, eq=False)
class Summary:
    """What one pass over all maps leaves; small, where the maps are not."""

    overview: Float32[np.ndarray, "layers heads down across"]  # NaN: no head
    metrics: pd.DataFrame  # a row a head

    @property
    def nbytes(self) -> int:
        return self.overview.nbytes + int(self.metrics.memory_usage().sum())


@dataclass(frozen=True, eq=False)
class GroupedMaps(Shown, Regroupable):
    """Maps over words, or over some of the tokens, to be read as a capture's own are."""

    known: Summary | None = field(default=None, repr=False)

    def by_words(self) -> GroupedMaps:
        return grouped(self.base, words=True, hide=self.hides, renormalise=self.renormalised)

    def without_special(self, renormalise: bool = False) -> GroupedMaps:
        return grouped(self.base, words=self.words, hide=True, renormalise=renormalise)

    def weights(
        self, layer: int, head: int, rows: slice | None = None, cols: slice | None = None
    ) -> Float32[np.ndarray, "rows cols"]:
        """One head's map by these units; rows and cols are slices of what is shown."""
        units, across = self._picked(rows, cols)
        out = np.zeros((len(units), len(across)), dtype=np.float32)
        for some in self.row_blocks(units):
            cells = self.whole(layer, head, units[some])[:, self.cols.shown]
            out[some] = (shared_anew(cells) if self.renormalised else cells)[:, across]
        return out

    def blocked(
        self, layer: int, rows: slice | None = None, cols: slice | None = None
    ) -> Bool[np.ndarray, "rows cols"]:
        """True where the mask forbids every pair of tokens of the two units."""
        units, across = self._picked(rows, cols)
        out = np.zeros((len(units), len(across)), dtype=bool)
        for some in self.row_blocks(units):
            span, starts, _ = self._tokens(units[some])
            masked = self.base.blocked(layer, rows=span)
            masked = np.logical_and.reduceat(masked, starts - span.start, axis=0)
            masked = np.logical_and.reduceat(masked, self.cols.starts, axis=1)
            out[some] = masked[units[some] - units[some][0]][:, self.cols.shown[across]]
        return out

    def largest(
        self,
        layer: int,
        head: int,
        block: int,
        rows: slice | None = None,
        cols: slice | None = None,
    ) -> tuple[Float32[np.ndarray, "down across"], Bool[np.ndarray, "down across"]]:
        """Each block's cell of largest magnitude, and whether the mask forbids all of it."""
        block = whole_number("block", block, 1)
        down, cols = span_of(rows, self.n_tokens), span_of(cols, self.n_keys)
        first, stop = down.start, down.stop
        edges = np.arange(0, cols.stop - cols.start, block)
        step = block * max(1, CELLS // (block * self.n_keys))
        values, masks = [], []
        for at in range(first, stop, step):
            some = slice(at, min(at + step, stop))
            starts = np.arange(0, some.stop - some.start, block)
            part = self.weights(layer, head, rows=some, cols=cols)
            high = np.maximum.reduceat(np.maximum.reduceat(part, starts), edges, axis=1)
            low = np.minimum.reduceat(np.minimum.reduceat(part, starts), edges, axis=1)
            values.append(np.where(-low > high, low, high))
            masked = np.logical_and.reduceat(self.blocked(layer, rows=some, cols=cols), starts)
            masks.append(np.logical_and.reduceat(masked, edges, axis=1))
        return np.concatenate(values), np.concatenate(masks)

    def tops(self, layer: int, head: int) -> Float32[np.ndarray, " rows"]:
        """The largest magnitude of each row of one head's map."""
        tops = np.zeros(self.n_tokens, dtype=np.float32)
        for some in self.row_blocks(self.rows.shown):
            tops[some] = np.abs(self.weights(layer, head, rows=some)).max(1, initial=0.0)
        return tops

    def overview(self, size: int = 32) -> Float32[np.ndarray, "layers heads down across"]:
        """Every map at a glance, as Capture.overview gives it; NaN for no head."""
        return self._summary(size).overview

    def metrics(self) -> pd.DataFrame:
        """A row a head, as Capture.metrics gives it, counted in words where these are words.

        Leaving special tokens out of sight changes no metric; where rows share out one unit anew
        they are measured on what is shown. A column hidden says what was left out of a row. Signed
        maps keep their own: each is a mean over tokens.
        """
        return self._summary(32).metrics

    def summarised(self, progress: Callable[[float, str], None], size: int = 32) -> Summary:
        """overview() and metrics() of all heads, in one pass that reports and can be stopped."""
        from attnviz.models.summing import summarise

        return summarise(self, size, progress)

    def with_summary(self, known: Summary) -> GroupedMaps:
        """The same, its overview and metrics being known already."""
        return replace(self, known=known)

    def over(self, base: Any) -> GroupedMaps:
        """The same units of the same run, whose maps are held by base: a new capture, or None."""
        return replace(self, base=base)

    def _summary(self, size: int) -> Summary:
        size = whole_number("size", size, 1)
        shape = (min(size, self.n_tokens), min(size, self.n_keys))
        if self.known is not None and self.known.overview.shape[-2:] == shape:
            return self.known
        found = self.summarised(lambda fraction, text: None, size)
        if self.known is None:
            object.__setattr__(self, "known", found)  # the same for whoever asks next
        return found

    def row_blocks(self, units: Int[np.ndarray, " rows"]) -> Iterator[slice]:
        """Runs of these units, in order, the rows of whose tokens fit in CELLS; of one at least."""
        most, first = max(1, CELLS // self.cols.length), 0
        for place, unit in enumerate(units):
            if self.rows.stops[unit] - self.rows.starts[units[first]] > most and place > first:
                yield slice(first, place)
                first = place
        if len(units):
            yield slice(first, len(units))

    def whole(
        self, layer: int, head: int, units: Int[np.ndarray, " rows"]
    ) -> Float32[np.ndarray, "rows units"]:
        """The rows of these units over all keys, hidden ones too."""
        span, starts, counts = self._tokens(units)
        tile = self.base.weights(layer, head, rows=span)
        rows = sums(tile, starts - span.start, counts) / counts.astype(np.float32)[:, None]
        cells = sums(rows.T, self.cols.starts, self.cols.stops - self.cols.starts).T
        return cells[units - units[0]]

    def _tokens(self, units: np.ndarray) -> tuple[slice, np.ndarray, np.ndarray]:
        """(tokens from the first of these units to the last, the starts of all there, sizes)."""
        some = slice(units[0], units[-1] + 1)
        starts, stops = self.rows.starts[some], self.rows.stops[some]
        return slice(int(starts[0]), int(stops[-1])), starts, stops - starts

    def _picked(self, rows: slice | None, cols: slice | None) -> tuple[np.ndarray, np.ndarray]:
        """(units of the rows, places among the keys that are shown)."""
        return self.rows.shown[_chosen(rows, self.n_tokens)], _chosen(cols, self.n_keys)


def sums(
    lines: Float32[np.ndarray, "tokens others"],
    starts: Int[np.ndarray, " units"],
    counts: Int[np.ndarray, " units"],
) -> Float32[np.ndarray, "units others"]:
    """The sum of each unit's lines. np.add.reduceat says the same ten times slower."""
    if len(starts) == len(lines):
        return lines
    out = lines[starts]
    for place in range(1, int(counts.max())):
        longer = np.flatnonzero(counts > place)
        out[longer] += lines[starts[longer] + place]
    return out


def shared_anew(cells: Float32[np.ndarray, "rows cols"]) -> Float32[np.ndarray, "rows cols"]:
    """Rows that add up to 1; a row of zeros stays one."""
    total = cells.sum(1, keepdims=True)
    return np.divide(cells, total, out=np.zeros_like(cells), where=total > 0)


def grouped(
    maps: Any, *, words: bool = False, hide: bool = False, renormalise: bool = False
) -> GroupedMaps:
    """These maps by words, without special tokens, or both."""
    if renormalise and maps.signed:
        raise AttnvizError(
            "Effective maps are signed and their rows add up to nothing in particular, so they "
            "cannot share out one unit anew; leave renormalise out."
        )
    own = Axis(
        maps.tokens,
        maps.token_details,
        maps.token_ids,
        maps.special,
        getattr(maps, "roles", ()),
        getattr(maps, "grid", None),
    )
    keys = getattr(maps, "keys", None)
    rows = side_of(maps.tokenizer, own, words, hide)
    cols = rows if keys is None else side_of(maps.tokenizer, keys, words, hide)
    hidden = any(len(side.shown) < len(side.starts) for side in (rows, cols))
    return GroupedMaps(maps, rows, cols, words, renormalised=renormalise and hidden)


def _chosen(part: slice | None, length: int) -> Int[np.ndarray, " chosen"]:
    """The positions that a slice of a side selects."""
    return np.arange(length)[slice_of(part, length)]

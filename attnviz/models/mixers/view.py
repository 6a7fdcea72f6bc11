"""The effective maps of a capture, to be read as its attention maps are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
import pandas as pd
import torch
from jaxtyping import Bool, Float32
from torch import Tensor

from attnviz.errors import AttnvizError
from attnviz.models.axis import Axis
from attnviz.models.grouped import Regroupable
from attnviz.models.layer import Layer
from attnviz.models.mixers.drive import Strips
from attnviz.models.mixers.record import MixerRecord
from attnviz.models.pooling import stacked
from attnviz.models.slices import slice_of, span_of, whole_number

SHOWN = 16
"""Heads listed of a layer at most: where every channel is a head, there are thousands."""
COLUMNS = 256  # of a map that are held at once while it is made smaller


@dataclass(frozen=True, eq=False)
class EffectiveMaps(Regroupable):
    """Signed maps: output = A V. Rows need not add up to 1, and no cell is a probability."""

    model_name: str
    text: str
    tokens: tuple[str, ...]
    token_details: tuple[str, ...]
    token_ids: tuple[int, ...]
    special: tuple[bool, ...]
    records: dict[int, MixerRecord] = field(repr=False)
    tokenizer: Any = field(default=None, repr=False)
    roles: tuple[str, ...] = ()  # who says each token, in a chat
    written: Axis | None = None  # the new tokens where the model wrote on; the last was not read

    @classmethod
    def of_run(cls, capture: Any) -> EffectiveMaps:
        """The maps of a Capture's linear and state-space layers."""
        shared = {one.name: getattr(capture, one.name) for one in fields(cls)}
        return cls(**shared | {"records": capture.mixers})

    @property
    def n_tokens(self) -> int:
        return len(self.tokens)

    @property
    def layers(self) -> tuple[Layer, ...]:
        """The layers, by their true numbers, with at most their first 16 heads."""
        return tuple(_listed(record.layer) for record in self.records.values())

    @property
    def n_keys(self) -> int:
        return self.n_tokens

    @property
    def captured(self) -> tuple[Layer, ...]:
        return self.layers

    @property
    def signed(self) -> bool:
        """These are effective maps, which are not probabilities."""
        return True

    @property
    def note(self) -> str:
        """What these maps are, in sentences for beside the picture."""
        most = max(record.n_heads for record in self.records.values())
        shown = f" Shown are the first {SHOWN} of {most:,} channels." if most > SHOWN else ""
        kinds = dict.fromkeys(d.says for record in self.records.values() for d in record.drives)
        return f"Effective maps: {' '.join(kinds)}{shown}"

    @property
    def nature(self) -> str:
        """What the maps are: "signed", "shares" (rows sum to 1) or "waves" (there is no state)."""
        return next(iter(self.records.values())).drives[0].nature

    def weights(
        self, layer: int, head: int, rows: slice | None = None, cols: slice | None = None
    ) -> Float32[np.ndarray, "rows cols"]:
        """The exact effective map of one head: tokens that read down, that wrote right."""
        record = self._of_head(layer, head)
        shown = slice_of(rows, self.n_tokens), slice_of(cols, self.n_tokens)
        part = record.weights(slice(head, head + 1), *shown)
        return part[0].numpy()

    def blocked(
        self, layer: int, rows: slice | None = None, cols: slice | None = None
    ) -> Bool[np.ndarray, "rows cols"]:
        """True above the diagonal where a state holds the past only."""
        record = self._of_head(layer, 0)
        shown = slice_of(rows, self.n_tokens), slice_of(cols, self.n_tokens)
        return record.blocked(*shown).numpy()

    def largest(
        self,
        layer: int,
        head: int,
        block: int,
        rows: slice | None = None,
        cols: slice | None = None,
    ) -> tuple[Float32[np.ndarray, "down across"], Bool[np.ndarray, "down across"]]:
        """Each block's cell of largest magnitude, sign kept, and whether all of it is masked."""
        record, block = self._of_head(layer, head), whole_number("block", block, 1)
        spans = [span_of(part, self.n_tokens) for part in (rows, cols)]
        down, across = (-(-(span.stop - span.start) // block) for span in spans)
        out = np.zeros((down, across), dtype=np.float32)
        for first, part in _by_columns(record, head, spans[0], spans[1], block):
            padded = torch.nn.functional.pad(
                part, (0, -part.shape[1] % block, 0, -part.shape[0] % block)
            )
            cells = padded.unflatten(0, (-1, block)).unflatten(2, (-1, block)).transpose(1, 2)
            cells = cells.flatten(2)  # (down, across, block * block)
            best = cells.gather(2, cells.abs().argmax(2, keepdim=True))[..., 0]
            out[:, first // block : first // block + best.shape[1]] = best.numpy()
        last_row = np.minimum(spans[0].start + (np.arange(down) + 1) * block, spans[0].stop) - 1
        first_col = spans[1].start + np.arange(across) * block
        return out, (first_col > last_row[:, None]) & record.causal

    def tops(self, layer: int, head: int) -> Float32[np.ndarray, " rows"]:
        """The largest magnitude of each row of one head's map."""
        record, all_ = self._of_head(layer, head), slice(0, self.n_tokens)
        tops = torch.zeros(self.n_tokens)
        for _, part in _by_columns(record, head, all_, all_, 1):
            torch.maximum(tops, part.abs().amax(1), out=tops)
        return tops.numpy()

    def strips(self, layer: int, head: int) -> Strips:
        """What one head keeps, writes and holds, token by token."""
        return self._of_head(layer, head).strips(head)

    def overview(self, size: int = 32) -> Float32[np.ndarray, "layers heads size size"]:
        """Every listed map at a glance, each cell its block's mean; NaN for no head."""
        size = whole_number("size", size, 1)
        return stacked([r.pooled(size, SHOWN).numpy() for r in self.records.values()], 4)

    def metrics(self) -> pd.DataFrame:
        """A row per (layer, head): the mean over tokens of decay, strength and state norm.

        Where no layer keeps a state, layer and head alone.
        """
        rows: list[dict[str, float]] = []
        for index, record in self.records.items():
            for head in range(min(record.n_heads, SHOWN)):
                rows.append({"layer": index, "head": head})
                if self.nature != "waves":
                    strips = record.strips(head)
                    rows[-1] |= {
                        "decay": float(strips.decay.mean()),
                        "strength": float(strips.strength.mean()),
                        "state": float(strips.state_norm.mean()),
                    }
        return pd.DataFrame(rows)

    def _of_head(self, layer: int, head: int) -> MixerRecord:
        record = self.records.get(whole_number("layer", layer))
        if record is None or not 0 <= whole_number("head", head) < record.n_heads:
            raise AttnvizError(
                f"{self.model_name} has no effective map of layer {layer}, head {head}; its "
                f"linear and state-space layers are {', '.join(map(str, self.records))}."
            )
        return record


def _listed(layer: Layer) -> Layer:
    """With its first heads only, and the keys of theirs, where these share them evenly."""
    if layer.n_heads <= SHOWN:
        return layer
    sharing = min(layer.n_heads // layer.n_kv_heads, SHOWN)
    groups = SHOWN // sharing if SHOWN % sharing == 0 else SHOWN
    return replace(layer, n_heads=SHOWN, n_kv_heads=groups)


def _by_columns(
    record: MixerRecord, head: int, rows: slice, cols: slice, block: int
) -> Iterator[tuple[int, Tensor]]:
    """A head's map a few whole blocks of columns at a time: (offset of the first, part)."""
    step = max(1, COLUMNS // block) * block
    for first in range(0, cols.stop - cols.start, step):
        some = slice(cols.start + first, min(cols.start + first + step, cols.stop))
        yield first, record.weights(slice(head, head + 1), rows, some)[0]

"""One pass over all regrouped maps: their overviews and metrics, a block of rows at a time."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float32
from torch import Tensor

from attnviz.metrics.heads import NAMES, PLACED, mean_rows, row_metrics
from attnviz.models.grouped import GroupedMaps, Summary, shared_anew
from attnviz.models.pooling import stacked
from attnviz.models.sides import Side
from attnviz.models.stream import bins


def summarise(maps: GroupedMaps, size: int, progress: Callable[[float, str], None]) -> Summary:
    """Overviews of size x size at most, and each head's metrics, of all maps."""
    overviews, rows = [], []
    down, across = _pool(maps.rows, size).T, _pool(maps.cols, size)
    layers = maps.captured
    for place, layer in enumerate(layers):
        of_layer = []
        for head in range(layer.n_heads):
            progress(
                (place + head / layer.n_heads) / len(layers),
                f"Layer {layer.index}, head {head} by {maps.unit}s",
            )
            overview, numbers = _head(maps, layer.index, head, down, across)
            of_layer.append(overview)
            rows.append({"layer": layer.index, "head": head} | numbers)
        overviews.append(np.stack(of_layer))
    own = pd.DataFrame(rows)
    if getattr(maps.base, "keys", None) is not None:  # as Capture.metrics has it
        own[list(own.columns.intersection(list(PLACED)))] = np.nan
    if not _measures(maps):  # its weights are the run's own
        own = pd.concat([maps.base.metrics(), own.drop(columns=["layer", "head"])], axis=1)
    return Summary(stacked(overviews, 4), own)


def _measures(maps: GroupedMaps) -> bool:
    return not maps.signed and (maps.words or maps.renormalised)


def _head(
    maps: GroupedMaps,
    layer: int,
    head: int,
    down: Float32[Tensor, "cells_down units"],
    across: Float32[Tensor, "keys cells_across"],
) -> tuple[Float32[np.ndarray, "cells_down cells_across"], dict[str, float]]:
    """(overview, numbers by name) of one head."""
    overview = torch.zeros(len(down), across.shape[1])
    every = np.arange(len(maps.rows.starts))
    shown = np.isin(every, maps.rows.shown)
    hidden = np.setdiff1d(np.arange(len(maps.cols.starts)), maps.cols.shown)
    measured, mass = [], 0.0
    for part in maps.row_blocks(every):
        whole = maps.whole(layer, head, every[part])
        if maps.hides:
            mass += float(whole[shown[part]][:, hidden].sum(dtype=np.float64))
        if maps.renormalised:
            whole[:, hidden] = 0.0
            whole = shared_anew(whole)
        rows = torch.from_numpy(np.ascontiguousarray(whole))
        overview += down[:, part] @ (rows @ across)
        if _measures(maps):
            at = part.start
            if maps.renormalised:  # places, too, are counted in what is shown
                rows = torch.from_numpy(whole[shown[part]][:, maps.cols.shown])
                at = int(shown[:at].sum())
            if len(rows):
                measured.append(row_metrics(rows[None], at))
    found: dict[str, float] = {}
    if measured:
        found = dict(zip(NAMES, mean_rows(torch.cat(measured, 1))[0].tolist(), strict=True))
    if maps.hides and not maps.signed:
        found["hidden"] = mass / int(shown.sum())
    return overview.numpy(), found


def _pool(side: Side, size: int) -> Float32[Tensor, "units cells"]:
    """What makes each cell of an overview the mean of its units, hidden ones being in none."""
    cells = bins(len(side.shown), size)
    pool = torch.zeros(len(side.starts), int(cells[-1]) + 1)
    pool[torch.from_numpy(side.shown), cells] = 1.0
    return pool / pool.sum(0)

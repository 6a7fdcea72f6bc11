"""Exact numbers of one head as files: NPZ for programs, CSV for spreadsheets."""

from __future__ import annotations

import csv
import io
from typing import Any

import numpy as np


def to_npz(capture: Any, layer: int, head: int) -> bytes:
    """One head's map with its tokens, as a compressed NPZ that loads with allow_pickle=False.

    Arrays: weights (T_q, T_k) float32, blocked (T_q, T_k) bool, tokens (T,) as shown, token_ids
    (T,), layer, head, model and text.
    """
    buffer = io.BytesIO()
    np.savez_compressed(
        buffer,
        weights=capture.weights(layer, head),
        blocked=capture.blocked(layer),
        tokens=np.array(capture.tokens, dtype=np.str_),
        token_ids=np.array(capture.token_ids, dtype=np.int64),
        layer=np.int64(layer),
        head=np.int64(head),
        model=np.str_(capture.model_name),
        text=np.str_(capture.text),
    )
    return buffer.getvalue()


def to_csv(capture: Any, layer: int, head: int) -> str:
    """One head's map as a table: a row a query, a column a key, each named by position and token.

    Weights are written so that float32 reads them back exactly.
    """
    weights = capture.weights(layer, head)
    names = [f"{place}: {token}" for place, token in enumerate(capture.tokens)]
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer)
    writer.writerow(["query \\ key", *names])
    for name, row in zip(names, weights, strict=True):
        writer.writerow([name, *(np.format_float_positional(value) for value in row)])
    return buffer.getvalue()

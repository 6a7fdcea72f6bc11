"""Exact numbers of one head as files: NPZ for programs, CSV for spreadsheets."""

from __future__ import annotations

import csv
import io
import zipfile
from typing import Any

import numpy as np

from attnviz.figures.capture import OVERVIEW_SIDE
from attnviz.figures.figure import Panel
from attnviz.figures.parts import Request, Source
from attnviz.figures.sinks import LABEL, has_sinks, with_sinks


def to_npz(capture: Any, layer: int, head: int) -> bytes:
    """One head's map with its tokens, as a compressed NPZ that loads with allow_pickle=False.

    Arrays: weights (T_q, T_k) float32, blocked (T_q, T_k) bool, tokens (T_q,) as shown, token_ids
    (T_q,), key_tokens (T_k,): the tokens again, or in cross-attention the source's; layer, head,
    group of maps, model and text; where the maps have learned sinks also sink (T_q,), what each
    row gives to it.
    """
    sink = {"sink": capture.sink_weights(layer, head)} if has_sinks(capture) else {}
    buffer = io.BytesIO()
    np.savez_compressed(
        buffer,
        weights=capture.weights(layer, head),
        blocked=capture.blocked(layer),
        tokens=np.array(capture.tokens, dtype=np.str_),
        token_ids=np.array(capture.token_ids, dtype=np.int64),
        key_tokens=np.array(_key_tokens(capture), dtype=np.str_),
        layer=np.int64(layer),
        head=np.int64(head),
        group=np.str_(getattr(capture, "group", "self")),
        model=np.str_(capture.model_name),
        text=np.str_(capture.text),
        **sink,
    )
    return buffer.getvalue()


def to_csv(capture: Any, layer: int, head: int) -> str:
    """One head's map as a table: a row a query, a column a key, each named by position and token.

    Weights are written so that float32 reads them back exactly. A learned sink is the last column.
    """
    weights = with_sinks(capture).weights(layer, head)
    queries, keys = (
        [f"{place}: {token}" for place, token in enumerate(tokens)]
        for tokens in (capture.tokens, _key_tokens(capture))
    )
    keys += [LABEL] * has_sinks(capture)
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer)
    writer.writerow(["query \\ key", *keys])
    for name, row in zip(queries, weights, strict=True):
        writer.writerow([name, *(np.format_float_positional(value) for value in row)])
    return buffer.getvalue()


def _key_tokens(capture: Any) -> tuple[str, ...]:
    """What stands along the keys; a recording's and an effective map's are the tokens."""
    return getattr(capture, "key_tokens", capture.tokens)


def whole_npz(source: Source, layer: int, head: int, panel: Panel, settings: str = "") -> bytes:
    """A whole map, exactly, as an NPZ that loads with allow_pickle=False: the names of what the
    browser writes of a short one.

    Arrays: values (T_q, T_k) float32, masked (T_q, T_k) bool, rows and cols (positions),
    row_tokens and col_tokens, title and settings. It is asked of source and compressed a band of
    rows at a time, so that a map of hundreds of megabytes is never whole in memory. Raises what
    source raises.
    """
    rows, cols = panel.rows, panel.cols
    shape = (len(rows.labels), len(cols.labels))
    few = {
        "title": np.array([f"Layer {layer}, head {head}"]),
        "settings": np.array([settings]),
        "rows": np.arange(shape[0], dtype=np.int32),
        "cols": np.arange(shape[1], dtype=np.int32),
        "row_tokens": np.array(rows.labels, dtype=np.str_),
        "col_tokens": np.array(cols.labels, dtype=np.str_),
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, array in few.items():
            with archive.open(f"{name}.npy", "w") as file:
                np.lib.format.write_array(file, array, allow_pickle=False)
        # One after the other: a zip takes one file at a time, and the two are asked for together.
        masked = []
        with archive.open("values.npy", "w", force_zip64=True) as file:
            _header(file, "<f4", shape)
            for start in range(0, shape[0], OVERVIEW_SIDE):
                values, blocked = _band(source, layer, head, start, shape)
                file.write(values.astype("<f4").tobytes())
                masked.append(np.packbits(blocked, axis=1))
        with archive.open("masked.npy", "w", force_zip64=True) as file:
            _header(file, "|b1", shape)
            for bits in masked:
                file.write(np.unpackbits(bits, axis=1, count=shape[1]).astype(bool).tobytes())
    return buffer.getvalue()


def _header(file: Any, kind: str, shape: tuple[int, int]) -> None:
    said = {"descr": kind, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, said)


def _band(
    source: Source, layer: int, head: int, start: int, shape: tuple[int, int]
) -> tuple[np.ndarray, np.ndarray]:
    """OVERVIEW_SIDE whole rows of a map, or as many as there are, in parts that source gives."""
    rows = (start, min(start + OVERVIEW_SIDE, shape[0]))
    parts = [
        source(Request(layer, head, rows, (left, min(left + OVERVIEW_SIDE, shape[1]))))
        for left in range(0, shape[1], OVERVIEW_SIDE)
    ]
    return (
        np.concatenate([part.values for part in parts], axis=1),
        np.concatenate([part.blocked for part in parts], axis=1),
    )

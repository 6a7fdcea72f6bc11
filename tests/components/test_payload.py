"""The buffer holds what the figure holds."""

from __future__ import annotations

import json
import struct
from typing import Any

import numpy as np
import pytest

from attnviz.components.explorer.payload import pack, quantise
from attnviz.errors import AttnvizError
from attnviz.figures import palette
from attnviz.figures.figure import Axis, Figure, Grid, Panel, Selection

KINDS = {"f4": "<f4", "u1": "u1"}


def unpack(data: bytes) -> tuple[dict[str, Any], list[np.ndarray]]:
    """An independent reader of the layout that payload.py describes."""
    (length,) = struct.unpack_from("<I", data)
    assert length % 4 == 0
    header = json.loads(data[4 : 4 + length])
    for axis in header["axes"]:
        for part in ("labels", "details", "special"):
            axis[part] = None if axis[part] is None else header["lists"][axis[part]]
    arrays = []
    for entry in header["arrays"]:
        start = 4 + length + entry["offset"]
        assert start % 4 == 0
        count = int(np.prod(entry["shape"]))
        flat = np.frombuffer(data, KINDS[entry["kind"]], count, start)
        arrays.append(flat.reshape(entry["shape"]))
    return header, arrays


def figure(seed: int = 0) -> Figure:
    generator = np.random.default_rng(seed)
    tokens = ("the", "cat", "the", "<s>", "שלום\u202e")
    query = Axis("query", "query (attends from)", tokens, special=(False,) * 3 + (True, False))
    key = Axis("key", "key (attends to)", tokens, details=tuple(f"id {i}" for i in range(5)))
    weights = generator.random((5, 5), dtype=np.float32)
    weights[0, 1] = np.nan
    weights[0, 2] = -np.inf
    stack = generator.random((2, 4, 5, 5), dtype=np.float32)
    grid = Grid(
        stack[..., :3, :3],
        layers=(3, 7),
        metrics={"entropy (nats)": stack.sum((-1, -2))},
        stack=stack,
        kv_heads=2,
    )
    panels = (
        Panel("weights", "Weights", weights, query, key, blocked=~np.tri(5, dtype=bool)),
        Panel("scores", "Scores", weights, query, key, "signed", value_name="score", limit=2.0),
    )
    return Figure("T", "Alt.", panels, grid, "seed 0", "stem")


def test_round_trip_is_exact() -> None:
    one = figure()
    header, arrays = unpack(pack(one, Selection(layer=7, head=1), push=4))
    first, second = header["panels"]
    assert np.array_equal(arrays[first["values"]], one.panels[0].values, equal_nan=True)
    assert np.array_equal(arrays[first["blocked"]].astype(bool), one.panels[0].blocked)
    assert second["values"] == first["values"]  # equal arrays travel once
    assert (first["valueName"], second["valueName"]) == ("weight", "score")
    assert second["limit"] == 2.0
    assert header["axes"][first["rows"]]["labels"] == list(one.panels[0].rows.labels)
    assert header["axes"][first["rows"]]["special"] == [False, False, False, True, False]
    assert header["axes"][first["cols"]]["details"][4] == "id 4"
    grid = header["grid"]
    assert (grid["layers"], grid["heads"], grid["kvHeads"]) == ([3, 7], 4, 2)
    assert one.grid is not None
    assert np.array_equal(arrays[grid["stack"]], one.grid.stack)
    assert np.array_equal(arrays[grid["metrics"][0]["values"]], one.grid.metrics["entropy (nats)"])
    assert arrays[grid["thumbnails"]].shape == (2, 4, 3, 3)
    look = header["selection"].pop("look")
    assert header["selection"] == {
        "layer": 7,
        "head": 1,
        "panel": None,
        "row": None,
        "col": None,
        "to": None,
    }
    assert (look["show"], look["least"], look["others"], look["hide"]) == ("matrix", 0.0, [], [])
    assert header["push"] == 4
    for i, dark in enumerate((False, True)):
        place = header["palettes"]["sequential"][i]
        assert np.array_equal(arrays[place], palette.sequential(dark))
        for name, places in header["palettes"]["named"].items():
            assert np.array_equal(arrays[places[i]], palette.sequential(dark, name))


def test_equal_figures_give_equal_bytes() -> None:
    assert pack(figure()) == pack(figure())
    assert pack(figure(0)) != pack(figure(1))


def test_strided_and_double_arrays_are_packed_as_they_read() -> None:
    labels = Axis("query", "q", ("a", "b", "c"))
    wide = np.arange(9, dtype=np.float32).reshape(3, 3).T
    header, arrays = unpack(pack(Figure("", "", (Panel("p", "", wide, labels, labels),))))
    assert np.array_equal(arrays[header["panels"][0]["values"]], wide)


def test_a_lone_surrogate_does_not_stop_the_picture() -> None:
    labels = Axis("query", "q", ("\ud800",))
    values = np.ones((1, 1), np.float32)
    header, _ = unpack(pack(Figure("", "", (Panel("p", "", values, labels, labels),))))
    assert len(header["axes"][0]["labels"][0]) == 1


def test_thumbnails_fill_their_own_scale() -> None:
    maps = np.zeros((1, 3, 2, 2), np.float32)
    maps[0, 0] = [[0.01, 0.0025], [0, np.nan]]
    maps[0, 1] = [[1, 0.25], [0, 0]]
    small, large, empty = quantise(maps, False)[0]
    assert small.tolist() == [[255, 128], [0, 0]]
    assert large.tolist() == [[255, 128], [0, 0]]
    assert not empty.any()
    signed = quantise(np.array([[[[-1.0, 0.0, 1.0]]]], np.float32), True)
    assert signed.ravel().tolist() == [1, 128, 255]


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda a: Axis("query", "q", ("a",), details=()), "1 labels but 0 details"),
        (lambda a: Axis("query", "q", ("a",), special=(True, False)), "1 labels but 2 special"),
        (lambda a: Grid(np.zeros((2, 4, 3, 3), np.float32), (0,)), "2 layers but 1"),
        (lambda a: Grid(np.zeros((1, 4, 3, 3), np.float32), (0,), kv_heads=3), "shared evenly"),
        (lambda a: Panel("p", "", np.zeros((2, 1), np.float32), a, a), r"shape \(2, 1\)"),
        (lambda a: Panel("p", "", np.zeros((1, 1), np.float32), a, a, grows_from=2), "grows from"),
        (lambda a: Figure("", "", (), walk=("none",)), "only panels of"),
    ],
)
def test_a_figure_that_contradicts_itself_is_refused(make, says: str) -> None:
    with pytest.raises(AttnvizError, match=says):
        make(Axis("query", "q", ("a",)))

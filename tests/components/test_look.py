"""What a browser or a link says of the look is held to what there is."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pytest

from attnviz.components.explorer.look import drawable, look_of
from attnviz.components.explorer.selection import Memory, read, settle, within
from attnviz.figures.figure import MOST_OTHERS, Axis, Figure, Grid, Look, Panel, Selection

FULL = Look(
    show="lines",
    scale="log",
    least=0.05,
    palette="cividis",
    metric="entropy",
    order="up",
    cut=0.5,
    others=("5.1", "5.0"),
    row=True,
    table=True,
    lines="rows",
    reading="to",
    hide=("first", "special"),
    at=1,
    zoom=(2.5, 3.0, 0.125),
    zoomed="w",
)


def test_a_report_is_read_back_whole() -> None:
    report = {"layer": 5, "head": 1, "panel": None, "row": None, "col": None, "look": asdict(FULL)}
    assert read({"selection": report}) == Selection(layer=5, head=1, look=FULL)


@pytest.mark.parametrize(
    "said",
    [
        None,
        "lines",
        7,
        [],
        {},
        {"show": "<script>", "scale": "rainbow", "reading": None, "palette": "../x"},
        {"show": ["lines"], "scale": {}, "hide": "first", "others": "5.1"},
        {"least": float("nan")},
        {"least": float("inf")},
        {"least": -0.1},
        {"least": 1.5},
        {"least": "0.5"},
        {"least": True},
        {"row": "yes"},
        {"order": "sideways", "cut": "0.5"},
        {"cut": float("nan")},
        {"table": 1, "lines": "circle"},
        {"metric": "x" * 101, "others": ["y" * 101, 3, None, ""]},
        {"hide": ["everything", 1, None]},
        {"at": -1},
        {"at": True},
        {"at": 1.0},
        {"zoom": [1, 0, 0], "zoomed": 3},
        {"zoom": [2, -1, 0]},
        {"zoom": [2, 0]},
        {"zoom": [2, 0, float("nan")]},
        {"zoom": ["2", 0, 0]},
        {"zoom": 3},
    ],
)
def test_what_is_not_understood_is_the_default(said: Any) -> None:
    assert look_of(said) == Look()


def test_one_bad_word_does_not_spoil_the_others() -> None:
    assert look_of(asdict(FULL) | {"show": "x"}).least == 0.05


def test_no_more_maps_than_there_are_colours_and_each_once() -> None:
    said = look_of({"others": ["0.1", "0.1", *(f"1.{i}" for i in range(99))]})
    assert said.others == ("0.1", *(f"1.{i}" for i in range(MOST_OTHERS - 1)))


def figure() -> Figure:
    labels = Axis("query", "q", ("a", "b"))
    panel = Panel("w", "", np.zeros((2, 2), np.float32), labels, labels)
    other = Panel("v", "", np.zeros((2, 2), np.float32), labels, labels)
    metrics = {"entropy": np.zeros((1, 2), np.float32)}
    return Figure("", "", (panel, other), Grid(np.zeros((1, 2, 4, 4), np.float32), (5,), metrics))


def test_a_figure_draws_what_it_has() -> None:
    assert drawable(FULL, figure()) == replace(FULL, at=None), "this one has no steps"
    played = replace(figure(), walk=("w", "v"))
    assert drawable(FULL, played) == FULL
    assert drawable(replace(FULL, at=2), played).at is None
    assert drawable(replace(FULL, zoomed="x"), played).zoomed == ""
    asked = look_of({"metric": "none such", "others": ["5.2", "4.0", "5.1", "w", "05.1"]})
    assert drawable(asked, figure()) == Look(others=("5.1",))
    assert drawable(Look(others=("w", "v")), Figure("", "", figure().panels[:1])).others == ("w",)
    assert within(Selection(layer=5, head=0, look=FULL), played).look == FULL


def test_another_look_is_the_readers_and_sets_nothing() -> None:
    memory = Memory(argument=Selection(layer=5), returned=Selection(layer=5))
    seen = Selection(layer=5, look=FULL)
    assert settle(memory, Selection(layer=5), seen) == (seen, False)
    memory.returned = seen
    assert settle(memory, seen, seen) == (seen, False)


def test_python_can_set_the_look() -> None:
    memory = Memory(argument=Selection(layer=5), returned=Selection(layer=5))
    assert settle(memory, Selection(layer=5, look=FULL), Selection(layer=5))[1]

"""Whose selection counts, run by run, and the mount under AppTest."""

from __future__ import annotations

import json
import struct

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from attnviz.components.explorer.selection import Memory, read, settle, within
from attnviz.figures.figure import Axis, Figure, Grid, Panel, Selection

A, B, C = (Selection(layer=0, head=h) for h in range(3))


class Runs:
    """A script that mounts the explorer again and again."""

    def __init__(self) -> None:
        self.memory = Memory()

    def run(self, argument: Selection | None, reported: Selection | None) -> tuple[Selection, bool]:
        current, pushed = settle(self.memory, argument, reported)
        self.memory.argument, self.memory.returned = argument, current
        return current, pushed


def test_the_script_starts_and_the_reader_takes_over() -> None:
    runs = Runs()
    assert runs.run(A, None) == (A, True)
    assert runs.run(A, B) == (B, False)
    assert runs.run(A, B) == (B, False)  # an unrelated rerun


def test_handing_back_what_was_reported_sets_nothing() -> None:
    runs = Runs()
    runs.run(A, None)
    assert runs.run(A, B) == (B, False)
    assert runs.run(B, B) == (B, False)  # the link now says B
    assert runs.run(B, C) == (C, False)  # the reader went on before the link did
    assert runs.run(C, C) == (C, False)


def test_a_link_that_lags_a_run_does_not_undo_the_reader() -> None:
    runs = Runs()
    runs.run(A, None)
    runs.run(A, B)
    assert runs.run(B, C) == (C, False)


def test_the_script_can_set_it_again() -> None:
    runs = Runs()
    runs.run(A, None)
    runs.run(A, B)
    assert runs.run(C, B) == (C, True)
    assert runs.run(C, A) == (A, False)


def test_without_any_selection_nothing_is_selected() -> None:
    assert Runs().run(None, None) == (Selection(), False)


@pytest.mark.parametrize(
    "state",
    [
        None,
        {},
        {"selection": None},
        {"selection": "x"},
        {"selection": {"layer": "3"}},
        {"selection": {"row": 1.5}},
        {"selection": {"row": True}},
        {"selection": [1]},
    ],
)
def test_a_report_that_is_none_is_not_read(state: object) -> None:
    assert read(state) is None


def test_reports_are_held_to_the_figure() -> None:
    labels = Axis("query", "q", ("a", "b"))
    panel = Panel("w", "", np.zeros((2, 2), np.float32), labels, labels)
    figure = Figure("", "", (panel,), Grid(np.zeros((1, 2, 4, 4), np.float32), (5,)))
    good = Selection(layer=5, head=1, panel="w", row=1, col=0)
    assert within(good, figure) == good
    assert within(Selection(layer=0, head=1), figure) == Selection()
    assert within(Selection(layer=5, head=-1), figure) == Selection()
    assert within(Selection(panel="w", row=2, col=0), figure) == Selection()
    assert within(Selection(panel="x", row=0, col=0), figure) == Selection()
    assert within(good, Figure("", "", (panel,))) == Selection(panel="w", row=1, col=0)


def script() -> None:
    import numpy as np
    import streamlit as st

    from attnviz.components.explorer import explorer
    from attnviz.figures.figure import Axis, Figure, Panel, Selection

    labels = Axis("query", "q", ("a", "b"))
    panel = Panel("w", "Weights", np.eye(2, dtype=np.float32), labels, labels)
    row = st.number_input("row", 0, 9, 0, key="row")
    st.button("again", key="again")
    picked = explorer(
        Figure("T", "Alt.", (panel,)), key="x", selection=Selection(panel="w", row=row, col=0)
    )
    st.text(f"{picked.row}")


def buffer(app: AppTest) -> bytes:
    return app.get("bidi_component")[0].proto.bytes


def push(app: AppTest) -> int:
    data = buffer(app)
    return json.loads(data[4 : 4 + struct.unpack_from("<I", data)[0]])["push"]


def test_mounts_without_a_browser_and_sends_nothing_new_when_nothing_is() -> None:
    app = AppTest.from_function(script).run()
    assert not app.exception
    assert app.text[0].value == "0"
    first = buffer(app)
    app.button(key="again").click().run()
    assert buffer(app) == first
    app.number_input(key="row").set_value(1).run()
    assert app.text[0].value == "1"
    assert push(app) == 2
    app.number_input(key="row").set_value(7).run()  # the figure has no row 7
    assert app.text[0].value == "None"


def told() -> None:
    import numpy as np
    import streamlit as st

    from attnviz.components.explorer import payload
    from attnviz.components.explorer.selection import read
    from attnviz.figures.figure import Axis, Figure, Panel, Selection

    labels = Axis("query", "q", ("a", "b"))
    panel = Panel("w", "Weights", np.eye(2, dtype=np.float32), labels, labels)
    row = st.number_input("row", 0, 9, 0, key="row")
    given = None if row == 0 else {"selection": {"layer": None, "panel": "w", "row": 1, "col": 0}}
    st.session_state["y"] = given
    # As a page does that has one head only: it hands the report back with the head's number.
    said = read(given) or Selection(panel="w", row=0, col=0)
    back = Selection(layer=0, head=0, panel=said.panel, row=said.row, col=said.col)
    data, _ = payload(Figure("T", "Alt.", (panel,)), key="y", selection=back)
    st.text(str(data.count(b'"push":1,')))


def test_a_report_handed_back_with_a_head_that_is_not_there_is_no_push() -> None:
    app = AppTest.from_function(told).run()
    assert app.text[0].value == "1"  # the page's own first word
    app.number_input(key="row").set_value(1).run()
    assert not app.exception
    assert app.text[0].value == "1", "the reader's word is not sent back to the reader"


def test_a_block_is_a_cell_and_its_far_corner_where_the_figure_takes_blocks() -> None:
    labels = Axis("query", "q", ("a", "b", "c"))
    panel = Panel("w", "", np.zeros((3, 3), np.float32), labels, labels)
    plain, taking = Figure("", "", (panel,)), Figure("", "", (panel,), blocks=True)

    def told(to: object) -> Selection:
        said = {"layer": None, "head": None, "panel": "w", "row": 1, "col": 0, "to": to}
        found = read({"selection": said})
        assert found is not None
        return found

    assert within(told([2, 1]), taking).to == (2, 1)
    assert within(told([1, 0]), taking).to == (1, 0)
    assert within(told([2, 1]), plain).to is None
    for odd in ([3, 1], [0, 1], [2, 99], [2], "2_1", [2.0, 1], [True, 1], None, {"row": 2}):
        assert within(told(odd), taking).to is None, odd
    lost = within(Selection(panel="none", row=1, col=0, to=(2, 1)), taking)
    assert lost == Selection()

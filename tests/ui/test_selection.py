"""The latest word counts: the link, then the explorer, then a row chosen in a table."""

import pytest
from streamlit.testing.v1 import AppTest

from attnviz.figures.figure import Selection


def _page() -> None:
    import streamlit as st

    from attnviz.ui import selection

    def choose() -> None:
        selection.choose("map", 1, 0)

    st.button("Row", on_click=choose)
    chosen = selection.current("map", layers=(0, 1, 5), n_heads=4, default=(1, 2), panel="weights")
    selection.keep(chosen, default=(1, 2))
    st.session_state["got"] = chosen


def _run(app: AppTest | None = None, report: dict | None = None, **query: str) -> AppTest:
    app = app or AppTest.from_function(_page, default_timeout=10)
    app.query_params.update(query)
    if report:
        app.session_state["map"] = {"selection": report}
    app.run()
    assert not app.exception
    return app


def test_a_bare_address_gives_the_default_and_stays_bare() -> None:
    app = _run()
    assert app.session_state["got"] == Selection(layer=1, head=2)
    assert not {"layer", "head", "row", "col"} & set(app.query_params)


def test_a_link_gives_what_it_says() -> None:
    got = _run(layer="5", head="0", row="3", col="2").session_state["got"]
    assert got == Selection(layer=5, head=0, panel="weights", row=3, col=2)


@pytest.mark.parametrize(
    "query",
    [
        {"layer": "2", "head": "1"},  # a layer between the true indices
        {"layer": "5", "head": "4"},
        {"layer": "-1", "head": "1"},
        {"layer": "1e9", "head": "x"},
        {"layer": "9" * 5000, "head": "٣"},
    ],
)
def test_a_head_that_is_not_there_becomes_the_default(query: dict[str, str]) -> None:
    got = _run(**query).session_state["got"]
    assert (got.layer, got.head) == (1, 2)


def test_the_explorers_report_and_then_the_table_win_and_reach_the_link() -> None:
    app = _run(layer="5", head="0")
    report = {"layer": 0, "head": 3, "panel": "weights", "row": 4, "col": 1}
    app = _run(app, report)
    assert app.session_state["got"] == Selection(0, 3, "weights", 4, 1)
    assert {part: app.query_params[part] for part in ("layer", "head", "row", "col")} == {
        "layer": "0",
        "head": "3",
        "row": "4",
        "col": "1",
    }
    app.button[0].click().run()
    got = app.session_state["got"]
    assert (got.layer, got.head) == (1, 0)


def test_a_link_to_a_head_of_the_only_layer_needs_no_layer() -> None:
    def page() -> None:
        import streamlit as st

        from attnviz.ui import selection

        st.session_state["got"] = selection.current(
            "map", layers=(0,), n_heads=8, default=(0, 0), panel="weights"
        )

    app = AppTest.from_function(page, default_timeout=10)
    app.query_params["head"] = "5"
    app.run()
    assert (app.session_state["got"].layer, app.session_state["got"].head) == (0, 5)


def test_a_cell_that_the_map_does_not_have_is_none() -> None:
    def page() -> None:
        import streamlit as st

        from attnviz.ui import selection

        length, unit = st.session_state.get("length", 12), st.session_state.get("unit", "token")
        st.session_state["got"] = selection.current(
            "map", layers=(0,), n_heads=2, default=(0, 0), shape=(length, length), unit=unit
        )

    app = AppTest.from_function(page, default_timeout=10)
    app.query_params.update({"row": "9", "col": "2", "to": "11_4"})
    app.run()
    assert app.session_state["got"] == Selection(layer=0, head=0, row=9, col=2, to=(11, 4))
    app.session_state["unit"] = "word"  # its ninth row is another
    app.run()
    assert not app.exception
    assert app.session_state["got"] == Selection(layer=0, head=0)

    app = AppTest.from_function(page, default_timeout=10)
    app.query_params.update({"row": "9", "col": "2"})
    app.session_state["length"] = 9
    app.run()
    assert app.session_state["got"] == Selection(layer=0, head=0)


def test_another_models_default_head_is_not_kept_but_a_chosen_one_is() -> None:
    def page() -> None:
        import streamlit as st

        from attnviz.ui import selection

        model, default = st.session_state.get("model", ("a", (1, 2)))
        st.session_state["got"] = selection.current(
            "map", layers=(0, 1, 2), n_heads=4, default=default, whose=model
        )

    app = AppTest.from_function(page, default_timeout=10).run()
    for model, default, expected in (
        ("a", (0, 3), (1, 2)),  # another text: the head that the reader looks at stays
        ("b", (2, 0), (1, 2)),  # which is no default any more
        ("b", (1, 2), (1, 2)),
        ("c", (2, 1), (2, 1)),
    ):
        app.session_state["model"] = (model, default)
        app.run()
        got = app.session_state["got"]
        assert (got.layer, got.head) == expected
    app.session_state["map"] = {"selection": {"layer": 0, "head": 0}}
    app.run()
    app.session_state["model"] = ("d", (2, 2))
    app.run()
    assert (app.session_state["got"].layer, app.session_state["got"].head) == (0, 0)


def test_going_back_counts_more_than_what_the_explorer_said_before() -> None:
    app = _run()
    _run(app, {"layer": 5, "head": 1})
    assert app.session_state["got"].layer == 5
    del app.session_state["_address"]  # as when a page is entered anew
    assert _run(app, layer="0", head="3").session_state["got"] == Selection(layer=0, head=3)

"""Controls hold their value in the URL, clamp what a client sends, and lose nothing typed."""

from streamlit.testing.v1 import AppTest


def _page() -> None:
    import streamlit as st

    from attnviz.ui import controls

    st.session_state["got"] = {
        "text": controls.text("Text", key="text", default="hello"),
        "kind": controls.segment("Kind", ["a", "b"], key="kind"),
        "model": controls.pick("Model", ["x", "y"], key="model", default="y"),
        "n": controls.ladder("N", [1, 2, 4, 8], key="n", default=4),
        "seed": controls.number("Seed", 0, 99, key="seed", default=7),
        "scale": controls.toggle("Scale", key="scale", default=True),
    }


DEFAULTS = {"text": "hello", "kind": "a", "model": "y", "n": 4, "seed": 7, "scale": True}


def _run(**query: str) -> AppTest:
    app = AppTest.from_function(_page, default_timeout=10)
    app.query_params.update(query)
    app.run()
    assert not app.exception
    return app


def test_a_bare_address_gives_the_defaults() -> None:
    assert _run().session_state["got"] == DEFAULTS


def test_a_link_gives_what_it_says() -> None:
    query = {"text": "a b", "kind": "b", "model": "x", "n": "8", "seed": "3", "scale": "false"}
    assert _run(**query).session_state["got"] == {
        "text": "a b",
        "kind": "b",
        "model": "x",
        "n": 8,
        "seed": 3,
        "scale": False,
    }


def test_values_never_on_offer_become_the_defaults() -> None:
    query = {"kind": "../../x", "model": "<b>", "n": "1000000000", "seed": "1e9", "scale": "maybe"}
    assert _run(**query).session_state["got"] == DEFAULTS


def test_what_is_typed_goes_into_the_link_until_it_is_too_long_and_is_never_cut() -> None:
    app = _run()
    app.text_area(key="text").set_value("two  spaces & more").run()
    assert app.session_state["got"]["text"] == "two  spaces & more"
    assert app.query_params["text"] == "two  spaces & more"

    long = "x" * 100_000
    app.text_area(key="text").set_value(long).run()
    assert app.session_state["got"]["text"] == long
    assert "text" not in app.query_params
    assert "too long for a link" in app.markdown[0].value

    app.text_area(key="text").set_value("hello").run()
    assert "text" not in app.query_params

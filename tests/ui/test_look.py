"""How the figure is drawn, to the address and back."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

import attnviz
from attnviz.figures.figure import Look
from attnviz.ui import look

FULL = Look(
    show="compare",
    scale="log",
    least=0.05,
    palette="grey",
    metric="Entropy (nats)",
    others=("5.1", "3.4"),
    row=True,
    table=True,
    lines="rows",
    reading="to",
    hide=("first", "special"),
    at=2,
    zoom=(2.5, 3.0, 0.12345),
    zoomed="weights",
)
WORDS = {
    "show": "compare",
    "colours": "log",
    "min": "0.05",
    "palette": "grey",
    "metric": "entropy",
    "with": "5.1,3.4",
    "bars": "1",
    "table": "1",
    "lines": "rows",
    "read": "to",
    "hide": "first,special",
    "at": "2",
    "zoom": "2.5_3_0.12345",
    "zoomed": "weights",
}


def _page() -> None:
    import streamlit as st

    from attnviz.ui import address, look

    st.session_state["got"] = asked = look.from_url()
    address.write_all(look.words(st.session_state.get("set", asked)))


def _run(**query: str) -> AppTest:
    app = AppTest.from_function(_page, default_timeout=10)
    app.query_params.update(query)
    app.run()
    assert not app.exception
    return app


def _words(app: AppTest) -> dict[str, str]:
    return {
        key: value if isinstance(value, str) else value[0]
        for key, value in app.query_params.items()
    }


def test_the_address_gives_the_look_and_keeps_it() -> None:
    app = _run(**WORDS)
    assert app.session_state["got"] == FULL
    assert _words(app) == WORDS


def test_a_newcomers_look_leaves_the_address_bare() -> None:
    app = _run(**WORDS)
    app.session_state["set"] = Look()
    app.run()
    # What is in sight is the browser's to say.
    assert set(app.query_params) == {"zoom", "zoomed"}


@pytest.mark.parametrize(
    "query",
    [
        {"show": "lecture", "colours": "<script>", "palette": "../../x", "read": "9"},
        {"min": "1e999"},
        {"min": "nan"},
        {"min": "-0.5"},
        {"min": "9" * 10_000},
        {"min": "٠.٥"},
        {"with": "," * 10_000, "hide": "x" * 10_000, "bars": "true", "lines": "x"},
        {"metric": "m" * 10_000},
        {"zoom": "2_nan_0", "at": "-1"},
        {"zoom": "_" * 10_000, "at": "9" * 10_000},
        {"zoom": "0.5_0_0", "at": "1.5"},
    ],
)
def test_what_an_address_should_not_say_counts_for_nothing(query: dict[str, str]) -> None:
    assert _run(**query).session_state["got"] == Look()


def test_the_link_that_the_browser_makes_has_every_part() -> None:
    """It writes the same words: what is added here has to be added there."""
    web = Path(attnviz.__file__).parent / "components" / "explorer" / "web"
    made = (web / "sharing.js").read_text()
    assert [part for part in look.PARTS if f"\n    {part}:" not in made] == []

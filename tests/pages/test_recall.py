"""The Recall page: measures what the controls say, and gives the numbers out."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from attnviz.ui.page import CAUTIONS

PAGE = Path(__file__).parents[2] / "pages" / "recall.py"


def open_page(**query: str) -> AppTest:
    app = AppTest.from_file(str(PAGE), default_timeout=120)
    for word, value in query.items():
        app.query_params[word] = value
    app.session_state["more"] = True  # what is folded is open
    app.run()
    assert not app.exception
    return app


def texts(app: AppTest) -> str:
    return "\n".join(element.value for element in [*app.markdown, *app.text])


def test_it_measures_and_tells_the_numbers() -> None:
    app = open_page(d_state="16", seeds="2")
    assert "With 64 keys in a state of 16 × 16" in texts(app)
    assert CAUTIONS["untrained"] in texts(app)
    assert len(app.get("arrow_vega_lite_chart") or app.get("vega_lite_chart")) == 2


@pytest.mark.parametrize("tab", ["lesson", "numbers", "code"])
def test_every_part_opens(tab: str) -> None:
    app = open_page(d_state="16", seeds="1", tab=tab)
    if tab == "code":
        names: dict = {}
        exec(app.code[0].value.replace("print(text)", "None"), names)
        assert names["table"]["d"].unique().tolist() == [16]
    if tab == "numbers":
        assert len(app.dataframe[0].value) == 6 * (6 + 4)


def test_trained_hybrids_are_computed_when_asked_and_say_how_they_came_about() -> None:
    app = open_page(d_state="16", seeds="1", tab="trained", fresh="3")
    told = texts(app)
    assert "attnviz.recall.train" in told
    row = next(line for line in told.splitlines() if line.startswith("Right answers"))
    means = [float(part.split("**")[1]) for part in row.split(";")]
    assert len(means) == 5
    assert means[-1] > 0.99 > means[0]
    assert len(app.get("arrow_vega_lite_chart") or app.get("vega_lite_chart")) == 3


@pytest.mark.parametrize("query", [{"d_state": "1000000"}, {"alpha": "2"}, {"seeds": "-1"}])
def test_hostile_values_in_a_link_fall_back(query: dict[str, str]) -> None:
    app = open_page(**({"d_state": "16", "seeds": "1"} | query))
    assert "each written 4 times" in texts(app)

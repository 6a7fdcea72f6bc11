"""The page of the two date writers."""

from __future__ import annotations

from pathlib import Path

from streamlit.testing.v1 import AppTest

from attnviz.figures.alignment import NAMES, accuracy_chart
from attnviz.models.teaching import date_writer

PAGE = str(Path(__file__).parents[2] / "pages" / "alignment.py")


def opened(**query: str) -> AppTest:
    app = AppTest.from_file(PAGE, default_timeout=60)
    for word, value in query.items():
        app.query_params[word] = value
    return app.run()


def words(app: AppTest) -> str:
    return " ".join(block.value for block in [*app.markdown, *app.text])


def test_both_write_and_the_record_is_told_apart() -> None:
    app = opened()
    assert not app.exception
    said = words(app)
    assert "1998-03-03\n2001-12-24" in said
    assert "It wrote the end sign itself after 21 letters." in said
    assert "recorded after training" in said
    assert "train_date_writer" in said
    assert "not proof of a grammatical relation" in said


def test_what_cannot_be_read_is_told_and_kept() -> None:
    app = opened(line="<b>2024</b> $x$")
    assert not app.exception
    assert "take out '$' '<' '>'" in words(app)
    assert app.text_input[0].value == "<b>2024</b> $x$"


def test_the_chart_draws_the_record() -> None:
    """Every point is a row of the card, and Altair finds the chart valid."""
    import altair as alt

    card = date_writer.card()
    for dark in (False, True):
        chart = accuracy_chart(card, dark=dark)
        drawn = {(row["writer"], row["dates"]): row["right"] for row in chart["datasets"]["judged"]}
        assert drawn == {
            (NAMES[kind], row["dates"]): row["right"]
            for kind, rows in card["accuracy"].items()
            for row in rows
        }
        alt.Chart.from_dict(chart)

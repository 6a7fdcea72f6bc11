"""CSV of tables with a visitor's text: read back by pandas, and never run by a spreadsheet."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pandas as pd

from attnviz.figures.spreadsheet import csv_of


def test_text_reads_back_and_is_no_formula() -> None:
    words = ["a\rb", 'x, "y"', "two\nlines", "=1+1", "+1", "-1", "@SUM(A1)", "\tt", "\r=1", "", "é"]
    table = pd.DataFrame({"text": words, "change": [-1.5 * at for at in range(len(words))]})
    data = csv_of(table).encode()
    back = pd.read_csv(io.BytesIO(data), keep_default_na=False)
    safe = [f"'{word}" if word[:1] in tuple("=+-@\t\r") and word else word for word in words]
    assert back["text"].tolist() == safe
    assert back["change"].tolist() == table["change"].tolist()  # -1.5 is a number, not a formula
    lines = list(csv.reader(io.StringIO(data.decode(), newline="")))
    assert [line[0] for line in lines[1:]] == safe


def test_gaps_stay_gaps() -> None:
    table = pd.DataFrame({"a": pd.array([0, None], dtype="Int64"), "token": [None, "-"]})
    assert csv_of(table).split("\r\n")[1:3] == ['0,""', '"","\'-"']
    back = pd.read_csv(io.StringIO(csv_of(table)))
    assert back["a"].isna().tolist() == [False, True]
    assert back["token"].isna().tolist() == [True, False]


def test_a_column_s_name_is_no_formula_either() -> None:
    assert csv_of(pd.DataFrame({"-1/3": [0.5], "a": [1]})) == '"\'-1/3","a"\r\n0.5,1\r\n'


def test_every_table_is_written_so() -> None:
    """A name that a visitor pastes stands in more tables than one would think."""
    root = Path(__file__).parents[2]
    sources = [*root.glob("pages/*.py"), *root.glob("attnviz/ui/*.py")]
    sources += root.glob("attnviz/figures/*.py")
    texts = {source.name: source.read_text("utf-8") for source in sources}
    own = {name: text.replace("numbers.to_csv(", "") for name, text in texts.items()}
    assert [name for name, text in own.items() if ".to_csv(" in text] == ["spreadsheet.py"]

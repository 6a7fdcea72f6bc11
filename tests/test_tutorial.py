"""The tutorial notebook: every cell runs, and what is printed below it is what it gives."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from scripts.run_notebook import code_cells, run

NOTEBOOK = Path(__file__).parents[1] / "docs" / "tutorial.ipynb"
NUMBER = r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?"

pytestmark = pytest.mark.models


def words_and_numbers(outputs: list[dict]) -> tuple[list[str], list[float]]:
    """What a cell shows as text, its numbers apart from its words."""
    text = "\n".join(
        "".join(
            output["text"] if output["output_type"] == "stream" else output["data"]["text/plain"]
        )
        for output in outputs
    )
    return re.sub(NUMBER, "#", text).split(), [float(word) for word in re.findall(NUMBER, text)]


def test_every_cell_gives_what_stands_below_it() -> None:
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    for cell, outputs in zip(code_cells(notebook), run(notebook), strict=True):
        assert cell["outputs"], "".join(cell["source"])
        words, numbers = words_and_numbers(cell["outputs"])
        now, found = words_and_numbers(outputs)
        assert now == words
        # As printed: another machine's float32 sums may end in another digit.
        assert found == pytest.approx(numbers, rel=1e-2, abs=2e-3)


def test_it_holds_no_path_and_no_error() -> None:
    text = NOTEBOOK.read_text(encoding="utf-8")
    assert not re.search(r"/(home|root|Users|tmp|work|usr)/", text)
    assert "Traceback" not in text
    assert NOTEBOOK.stat().st_size < 300_000

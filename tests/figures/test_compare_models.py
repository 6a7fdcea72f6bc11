"""The figure of two runs holds what the comparison computes, in linked axes."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest

import attnviz as av
from attnviz.comparing import Comparison, compare
from attnviz.figures import compare_models as figures
from attnviz.models import LoadedModel
from tests.models import tiny

A, B = "the cat sat on the mat", "the dog sat off on the mat"


@pytest.fixture(scope="module")
def found() -> Comparison:
    model: LoadedModel = tiny.llama()
    return compare(av.capture(model, A), av.capture(model, B))


def test_three_panels_share_their_axes_and_the_grid_its_heads(found: Comparison) -> None:
    changes = found.changes()
    figure = figures.compare_models_figure(found, (1, 2), (1, 2), changes)
    a, b, difference = figure.panels
    expected = found.maps((1, 2))
    for panel, part in zip(figure.panels, expected, strict=True):
        np.testing.assert_array_equal(panel.values, part.values)
        assert (panel.rows.name, panel.cols.name) == ("query", "key")
    assert a.rows.labels == ("the", "·cat", "·sat", "–", "·on", "·the", "·mat")
    assert b.rows.labels == ("the", "·dog", "·sat", "·off", "·on", "·the", "·mat")
    assert difference.rows.labels[:4] == ("the", "·cat/·dog", "·sat", "–/·off")
    assert (a.limit, b.limit) == (1.0, 1.0)
    assert figure.grid is not None
    for title, column in ((figures.DISTANCE, "distance"), (figures.MOVED, "moved")):
        grid = figure.grid.metrics[title]
        for line in changes.table.itertuples():
            assert grid[line.layer, line.head] == pytest.approx(getattr(line, column))


def test_long_texts_are_sent_as_overviews(
    found: Comparison, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("attnviz.figures.capture.LONGEST_SIDE", 4)
    monkeypatch.setattr("attnviz.figures.capture.OVERVIEW_SIDE", 4)
    figure = figures.compare_models_figure(found, (0, 0), (2, 1), None)
    assert [panel.block for panel in figure.panels] == [2, 2, 2]
    assert figure.grid is None
    values = found.difference((0, 0), (2, 1))
    corner = values[:2, :2]
    assert figure.panels[2].values[0, 0] == corner.flat[np.abs(corner).argmax()]
    assert figure.panels[2].limit == pytest.approx(np.nanmax(np.abs(values)))


def test_tables_and_files(found: Comparison) -> None:
    pairs = figures.pairs_table(found)
    assert pairs["pair"].tolist() == ["same", "replaced", "same", "no partner", *["same"] * 3]
    assert pairs["a"].isna().tolist() == [False] * 3 + [True] + [False] * 3
    table = figures.heads_table(found, found.changes())
    assert table["query_b"].str.contains("·").any()
    csv = figures.difference_csv(found, (1, 0), (1, 0))
    read = pd.read_csv(io.StringIO(csv), index_col=0)
    assert list(read.columns) == ["0/0", "1/1", "2/2", "'-1/3", "3/4", "4/5", "5/6"]
    np.testing.assert_allclose(read.to_numpy(), found.difference((1, 0)), atol=1e-7)

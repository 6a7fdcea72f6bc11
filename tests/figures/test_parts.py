"""What a browser may ask of a map: exact parts, overviews, and nothing that is not there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from attnviz.components.explorer import wire
from attnviz.components.explorer.payload import pack
from attnviz.errors import AttnvizError
from attnviz.figures import capture as figures
from attnviz.figures.parts import Request, request_of
from attnviz.models.captures import Capture
from tests.models.made_up import made_up


@pytest.fixture(scope="module")
def long() -> Capture:
    return made_up(1500)


def test_the_first_picture_is_small_at_any_length() -> None:
    assert [figures.block_of(n) for n in (1, 768, 769, 1024, 1025, 8192)] == [1, 1, 2, 2, 4, 16]
    for n_tokens, n_layers in ((512, 30), (1500, 4)):
        figure = figures.capture_figure(made_up(n_tokens, n_layers=n_layers, n_heads=9), 3, 1)
        assert len(pack(figure)) <= 2_000_000


def test_a_long_text_is_an_overview_of_largest_weights(long: Capture) -> None:
    (panel,) = figures.capture_figure(long, 1, 2).panels
    assert panel.block == 4
    weights = long.weights(1, 2)
    expected = weights.reshape(375, 4, 375, 4).max((1, 3))
    np.testing.assert_allclose(panel.values, expected, atol=1e-6)
    assert panel.tops is not None
    np.testing.assert_allclose(panel.tops, weights.max(1), atol=1e-6)
    assert panel.blocked is not None
    np.testing.assert_array_equal(panel.blocked, np.triu(np.ones((375, 375), bool), 1))
    assert len(panel.rows.labels) == 1500


def test_a_part_is_exact(long: Capture) -> None:
    part = figures.part(long, Request(0, 1, (900, 1400), (800, 1300), 1))
    expected = long.weights(0, 1, rows=slice(900, 1400), cols=slice(800, 1300))
    np.testing.assert_array_equal(part.values, expected)
    np.testing.assert_array_equal(part.blocked, long.blocked(0)[900:1400, 800:1300])
    coarse = figures.part(long, Request(0, 1, (100, 1100), (0, 1000), 2))
    whole = long.weights(0, 1)[100:1100, :1000].reshape(500, 2, 500, 2).max((1, 3))
    np.testing.assert_allclose(coarse.values, whole, atol=1e-6)


HOSTILE: list[Any] = [
    None,
    [],
    "x",
    {},
    {"layer": 0, "head": 0},
    {"layer": "0", "head": 0, "block": 1},
    {"layer": True, "head": 0, "block": 1},
    {"layer": 0, "head": 0, "block": 1.5},
    {"layer": 0, "head": 0, "block": 1, "rows": [0, 5]},
    {"layer": 0, "head": 0, "block": 1, "rows": [0, 5, 9], "cols": [0, 5]},
    {"layer": 0, "head": 0, "block": 1, "rows": [0, "5"], "cols": [0, 5]},
    {"layer": 0, "head": 0, "block": 1, "rows": {"0": 0}, "cols": [0, 5]},
]
BEYOND = [
    Request(9, 0),
    Request(-1, 0),
    Request(0, 3),
    Request(0, -1),
    Request(0, 0, (0, 1501), (0, 5), 1),
    Request(0, 0, (-1, 5), (0, 5), 1),
    Request(0, 0, (5, 5), (0, 5), 1),
    Request(0, 0, (0, 1500), (0, 1500), 1),
    Request(0, 0, (0, 500), (0, 500), 0),
    Request(0, 0, (0, 500), (0, 500), -2),
    Request(0, 0, (0, 500), (0, 500), 4),
    Request(0, 0, (0, 5), (0, 10**30), 3),
]


@pytest.mark.parametrize("said", HOSTILE)
def test_what_is_not_a_request_is_none(said: Any) -> None:
    assert request_of(said) is None
    assert b"not understood" in wire.answer({"wire": "x"}, said, lambda request: None)  # type: ignore[arg-type, return-value]


@pytest.mark.parametrize("request_", BEYOND)
def test_what_is_not_there_or_too_much_is_refused(long: Capture, request_: Request) -> None:
    with pytest.raises(AttnvizError, match="expected"):
        figures.part(long, request_)


def test_an_answer_names_its_question_and_a_refusal_is_a_sentence(long: Capture) -> None:
    asked = {"layer": 0, "head": 1, "block": 1, "rows": [0, 4], "cols": [0, 4], "number": 7}
    data = wire.answer({"wire": "x"}, asked, lambda request: figures.part(long, request))
    assert b'"number":7' in data
    exact = long.weights(0, 1, rows=slice(0, 4), cols=slice(0, 4)).astype("<f4").tobytes()
    assert exact in data
    asked["rows"] = [0, 9999]
    assert b"expected spans" in wire.answer(
        {"wire": "x"}, asked, lambda request: figures.part(long, request)
    )

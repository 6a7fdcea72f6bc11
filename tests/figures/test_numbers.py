"""A whole map as a file: band by band, and exactly what the capture says."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest

import attnviz as av
from attnviz.figures import capture as captures
from attnviz.figures import numbers
from attnviz.figures.parts import Part, Request
from attnviz.models import LoadedModel
from tests.models.test_groups import pair


@pytest.mark.models
def test_a_whole_long_map_equals_the_captures(smollm2: LoadedModel) -> None:
    capture = av.capture(smollm2, "The cat sat on the mat and looked at the other cat. " * 80)
    n = len(capture.tokens)
    assert captures.block_of(n) > 1, "long enough to be shown as an overview"
    asked: list[Request] = []

    def source(request: Request) -> Part:
        asked.append(request)
        return captures.part(capture, request)

    panel = captures.capture_figure(capture, 3, 5).panels[0]
    data = numbers.whole_npz(source, 3, 5, panel, "smollm2-135m, many tokens")
    assert len(asked) > 1
    with np.load(io.BytesIO(data), allow_pickle=False) as held:
        np.testing.assert_allclose(held["values"], capture.weights(3, 5), rtol=0, atol=1e-6)
        np.testing.assert_array_equal(held["masked"], capture.blocked(3))
        assert held["col_tokens"].tolist() == list(capture.tokens)
        assert held["rows"].tolist() == list(range(n))
        assert held["title"].tolist() == ["Layer 3, head 5"]
        assert held["settings"].tolist() == ["smollm2-135m, many tokens"]


def test_a_cross_map_s_files_name_the_source_along_the_keys() -> None:
    model = pair("t5")
    capture = av.capture(model, source="the cat sat on the mat", target="the dog ran")
    cross = capture.of("cross")
    with np.load(io.BytesIO(numbers.to_npz(cross, 1, 2)), allow_pickle=False) as file:
        assert file["weights"].shape == file["blocked"].shape == (3, 6)
        assert file["tokens"].tolist() == list(cross.tokens)
        assert file["key_tokens"].tolist() == list(capture.tokens)
        assert str(file["group"]) == "cross"
    header, *rows = csv.reader(io.StringIO(numbers.to_csv(cross, 1, 2)))
    assert header[1:] == [f"{place}: {token}" for place, token in enumerate(capture.tokens)]
    values = np.array([[np.float32(cell) for cell in row[1:]] for row in rows])
    np.testing.assert_array_equal(values, cross.weights(1, 2))

"""The stored capture on Home is a real one: computed again here, to 1e-5."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import attnviz as av
from attnviz.errors import AttnvizError
from attnviz.models import LoadedModel, recorded
from attnviz.models.captures import Capture

pytestmark = pytest.mark.models


@pytest.fixture(scope="module")
def again(smollm2: LoadedModel) -> Capture:
    return av.capture(smollm2, recorded.load("smollm2-135m").text)


def test_every_map_is_computed_again(again: Capture) -> None:
    kept = recorded.load("smollm2-135m")
    assert (kept.tokens, kept.token_ids, kept.special) == (
        again.tokens,
        again.token_ids,
        again.special,
    )
    assert kept.token_details == again.token_details
    assert kept.layers == again.captured
    assert kept.maps.dtype == np.float32
    for layer in again.captured:
        for head in range(layer.n_heads):
            np.testing.assert_allclose(
                kept.weights(layer.index, head),
                again.weights(layer.index, head),
                rtol=0,
                atol=1e-5,
            )
        np.testing.assert_array_equal(kept.blocked(layer.index), again.blocked(layer.index))


def test_its_views_are_a_capture_s_views(again: Capture) -> None:
    kept = recorded.load("smollm2-135m")
    np.testing.assert_allclose(kept.overview(), again.overview(), atol=1e-5)
    np.testing.assert_allclose(kept.overview(4), again.overview(4), atol=1e-5)
    assert list(kept.metrics().columns) == list(again.metrics().columns)
    np.testing.assert_allclose(kept.metrics(), again.metrics(), atol=1e-4)
    rows, cols = slice(2, 7), slice(1, 4)
    np.testing.assert_array_equal(
        kept.weights(5, 3, rows=rows, cols=cols), kept.weights(5, 3)[rows, cols]
    )


def test_it_is_small_and_says_what_it_is() -> None:
    kept = recorded.load("smollm2-135m")
    assert (recorded.FOLDER / "smollm2-135m.npz").stat().st_size < 2_000_000
    assert kept.text == recorded.SENTENCE
    assert "Recorded" in kept.caption
    assert kept.text in kept.caption
    assert set(kept.versions) == {"torch", "transformers"}


def test_it_needs_no_torch() -> None:
    code = (
        "import sys; from attnviz.models import recorded; r = recorded.load('smollm2-135m'); "
        "r.weights(3, 5); r.overview(); r.overview(4); r.caption; "
        "print(sorted({'torch', 'transformers', 'pandas'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_it_is_shared_and_cannot_be_changed() -> None:
    kept = recorded.load("smollm2-135m")
    assert recorded.load("smollm2-135m") is kept
    with pytest.raises(ValueError, match="read-only"):
        kept.weights(0, 0)[0, 0] = 2


@pytest.mark.parametrize(("layer", "head"), [(30, 0), (-1, 0), (0, 9), (0, -1)])
def test_what_is_not_in_it_is_refused(layer: int, head: int) -> None:
    with pytest.raises(AttnvizError, match="layers 0 to 29 and heads 0 to 8"):
        recorded.load("smollm2-135m").weights(layer, head)


def test_a_recording_that_is_not_there_is_named() -> None:
    with pytest.raises(AttnvizError, match=r"attnviz\.models record"):
        recorded.load("gpt9")

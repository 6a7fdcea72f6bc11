"""One query's weights over the picture: the capture's own numbers, reshaped by the grid."""

from __future__ import annotations

import base64
from io import BytesIO

import altair
import numpy as np
import pytest
import torch
from PIL import Image

import attnviz as av
from attnviz.figures import capture_picture as figures
from attnviz.figures.vega import Spec
from attnviz.models import Capture
from tests.models.shrink import build

PICTURE = np.random.default_rng(0).integers(0, 255, (40, 50, 3), dtype=np.uint8)


def capture_of(name: str, task: str = "IMAGE_CLASSIFICATION") -> Capture:
    torch.manual_seed(0)
    return av.capture(av.from_transformers(build(task, name)), image=PICTURE)


@pytest.fixture(scope="module")
def vit() -> Capture:
    return capture_of("vit")


@pytest.fixture(scope="module")
def swin() -> Capture:
    return capture_of("swin")


@pytest.fixture(scope="module")
def detr() -> Capture:
    return capture_of("detr", "OBJECT_DETECTION")


def one(capture: Capture, layer: int, head: int, query: int) -> figures.Seen:
    view = figures.view_of(capture)
    assert view is not None
    return figures.seen(capture, view, layer, head, query)


def laid(spec: Spec, grid: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """(weights where they are drawn, where hatched), both (rows, columns)."""
    altair.Chart.from_dict(spec)
    weights, hatched = np.full(grid, np.nan), np.zeros(grid, bool)
    for square in spec["datasets"]["squares"]:
        weights[square["y"], square["x"]] = square["weight"]
    for square in spec["datasets"]["hatch"]:
        hatched[square["y"], square["x"]] = True
    return weights, hatched


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("query", [0, 7])
def test_a_query_s_row_lies_on_its_patches(vit: Capture, query: int, dark: bool) -> None:
    seen = one(vit, 1, 2, query)
    weights, hatched = laid(figures.weights_of(seen, dark=dark), (4, 4))
    row = vit.weights(1, 2)[query]
    np.testing.assert_array_equal(weights, row[1:].reshape(4, 4))
    assert not hatched.any()
    assert seen.asking == (None if query == 0 else 6)  # [CLS] is no patch
    said = figures.in_words(seen, 1, 2)
    assert said.startswith(f"{vit.tokens[query]}, head 2 of layer 1")
    best = int(row[1:].argmax())
    assert f"{row[1:].max():.4f}, is on r{best // 4}c{best % 4} " in said
    assert f"4 × 4 patches of 8 × 8 pixels; their weights add up to {row[1:].sum():.3g}" in said
    assert f"the rest is on [CLS] {row[0]:.4f}." in said


def test_the_picture_is_the_one_that_went_in(vit: Capture) -> None:
    spec = figures.patches_of(one(vit, 0, 0, 7))
    altair.Chart.from_dict(spec)
    (picture,) = spec["datasets"]["picture"]
    data = base64.b64decode(picture["url"].partition(",")[2])
    np.testing.assert_array_equal(np.asarray(Image.open(BytesIO(data))), vit.image)
    assert (picture["x2"], picture["y2"]) == (4, 4)
    assert spec["datasets"]["thick"] == []
    (asking,) = spec["datasets"]["asking"]
    assert (asking["y"], asking["x"]) == (1, 2)  # row 7 is patch 6


def test_swin_s_windows_stand_where_the_mask_has_them(swin: Capture) -> None:
    """In its second layer they are shifted; the edges follow from transformers' own arithmetic."""
    assert [swin.of(group).patch for group in swin.groups] == [2, 4]
    side = 4
    for layer, shift in ((0, 0), (1, side // 2)):
        query = 5 * 16 + 6
        seen = one(swin, layer, 1, query)
        weights, hatched = laid(figures.weights_of(seen), (16, 16))
        row = swin.weights(layer, 1)[query].reshape(16, 16)
        np.testing.assert_array_equal(weights[~hatched], row[~hatched])
        assert np.isnan(weights[hatched]).all()
        number = (np.arange(16) - shift) // side  # of the window, along a side
        own = (number[:, None] == number[5]) & (number[None] == number[6])
        np.testing.assert_array_equal(~hatched, own)
        assert seen.near is not None
        np.testing.assert_array_equal(seen.near[0, :, :-1], np.tile(np.diff(number) == 0, (16, 1)))
        np.testing.assert_array_equal(seen.near[1, :-1].T, np.tile(np.diff(number) == 0, (16, 1)))
        assert figures.patches_of(seen)["datasets"]["thick"]


def test_a_detector_s_query_has_no_patch_of_its_own(detr: Capture) -> None:
    cross = detr.of("cross")
    seen = one(cross, 1, 0, 3)
    grid = seen.view.grid
    assert grid == detr.grid
    weights, _ = laid(figures.weights_of(seen), grid)
    np.testing.assert_array_equal(weights, cross.weights(1, 0)[3].reshape(grid))
    assert (seen.query, seen.asking, seen.near, seen.n_own) == ("query 3", None, None, 0)
    assert "the rest is on" not in figures.in_words(seen, 1, 0)
    assert figures.view_of(detr.of("decoder")) is None  # queries among themselves
    assert figures.middle(cross, seen.view) == 0
    assert figures.middle(detr, seen.view) == grid[0] // 2 * grid[1] + grid[1] // 2


def test_patches_cut_by_the_edge_keep_their_size(detr: Capture) -> None:
    view = figures.view_of(detr)
    assert view is not None
    assert view.pixels.shape[0] > (view.grid[0] - 1) * view.patch
    assert view.pixels.shape[0] <= view.grid[0] * view.patch
    (picture,) = figures.patches_of(one(detr, 0, 0, 0))["datasets"]["picture"]
    assert picture["y2"] == view.pixels.shape[0] / view.patch

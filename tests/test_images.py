"""Pictures as inputs."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from PIL import Image

import attnviz as av
from attnviz import seeded

PIXELS = np.random.default_rng(0).integers(0, 256, (9, 14, 3), dtype=np.uint8)


def test_patches_row_by_row_as_a_convolution_would_make_them() -> None:
    x = av.image_inputs(PIXELS, patch=4, d_model=6, seed=3)
    assert x.grid == (2, 3)
    assert x.tokens == ("r0c0", "r0c1", "r0c2", "r1c0", "r1c1", "r1c2")
    scaled = torch.from_numpy(PIXELS[:8, :12] / 127.5 - 1).permute(2, 0, 1)[None]
    patches = torch.nn.functional.unfold(scaled, 4, stride=4)[0].T  # (6, 3 * 16), colour first
    ours = patches.view(6, 3, 16).transpose(1, 2).flatten(1)
    expected = ours @ seeded.normal((48, 6), 3, "patch") / 48**0.5
    assert float((expected - x.embeddings[0]).abs().max()) < 1e-6


def test_pil_arrays_grey_and_fractions_are_one() -> None:
    first = av.image_inputs(PIXELS, patch=4).embeddings
    assert torch.equal(first, av.image_inputs(Image.fromarray(PIXELS), patch=4).embeddings)
    fractions = av.image_inputs(PIXELS / 255, patch=4).embeddings
    assert float((first - fractions).abs().max()) < 1e-6
    grey = PIXELS[..., 0]
    three = np.stack([grey] * 3, axis=-1)
    assert torch.equal(
        av.image_inputs(grey, patch=4).embeddings, av.image_inputs(three, patch=4).embeddings
    )


def test_a_patch_that_changes_is_the_only_token_that_changes() -> None:
    changed = PIXELS.copy()
    changed[4:8, 8:12] = 255 - changed[4:8, 8:12]
    before, after = (av.image_inputs(p, patch=4).embeddings[0] for p in (PIXELS, changed))
    assert (before != after).any(-1).tolist() == [False] * 5 + [True]


@pytest.mark.parametrize(
    ("image", "sentence"),
    [
        (np.zeros((3, 9)), r"at least one patch of 4 x 4 pixels; received 9 x 3"),
        (np.full((8, 8), 2.0), "values from 0 to 1"),
        (np.zeros((8, 8, 4), np.uint8), "3 colours"),
        (np.zeros(8), "PIL image or an array"),
    ],
)
def test_what_is_no_picture_is_told(image: np.ndarray, sentence: str) -> None:
    with pytest.raises(av.AttnvizError, match=sentence):
        av.image_inputs(image, patch=4)

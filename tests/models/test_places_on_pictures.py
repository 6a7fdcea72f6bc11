"""Maps of vision models' own code, against a dense softmax over the places of the picture.

What goes into a layer is laid out on the picture by the library's own function for it, and the
definition is written there: which places share a unit, or a place in their patch.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from transformers import HieraModel

import attnviz as av
from attnviz.errors import ModelError
from attnviz.figures.capture_picture import seen, view_of, weights_of
from tests.models.shrink import shrink
from tests.models.test_own_code import loaded


def pixels(height: int, width: int) -> Tensor:
    return torch.randn(1, 3, height, width, generator=torch.Generator().manual_seed(0))


def inputs_of(layers: list[Any]) -> list[Tensor]:
    """What each layer's attention reads, (batch, positions, width), once the model has run."""
    read: list[Tensor] = []
    for layer in layers:
        layer.layernorm_before.register_forward_hook(lambda m, args, out: read.append(out.detach()))
    return read


def heads(projected: Tensor, n_heads: int) -> Tensor:
    """(rows, columns, width) -> (heads, places, dim), row by row."""
    return projected.flatten(0, 1).unflatten(-1, (n_heads, -1)).transpose(0, 1)


def places(rows: int, columns: int) -> tuple[Tensor, Tensor]:
    row, column = torch.meshgrid(torch.arange(rows), torch.arange(columns), indexing="ij")
    return row.flatten(), column.flatten()


def softmax(q: Tensor, k: Tensor, allowed: Tensor) -> np.ndarray:
    scores = q @ k.mT / q.shape[-1] ** 0.5
    return scores.masked_fill(~allowed, -torch.inf).softmax(-1).numpy()


def agrees(part: av.Capture, index: int, expected: np.ndarray, allowed: Tensor) -> None:
    for head, one in enumerate(expected):
        np.testing.assert_allclose(part.weights(index, head), one, rtol=0, atol=1e-5)
        np.testing.assert_allclose(part.weights(index, head).sum(-1), 1, atol=1e-5)
    np.testing.assert_array_equal(part.blocked(index), ~allowed.numpy())


def test_hiera_s_mask_units_lie_where_they_are_on_the_picture() -> None:
    """Units of 8 x 8 places in stage 1, 4 x 4 in stage 2, none behind; queries are maxima."""
    model = loaded("IMAGE_CLASSIFICATION", "hiera", image_size=[64, 96])
    encoder = model.model.hiera.encoder
    numbered = [
        (stage, layer) for stage, part in enumerate(encoder.stages) for layer in part.layers
    ]
    read = inputs_of([layer for _, layer in numbered])
    capture = av.capture(model, inputs={"pixel_values": pixels(64, 96)})
    assert capture.check.logits_error == 0
    groups = {layer.index: g for g in capture.groups for layer in capture.of(g).captured}
    assert [groups[index] for index in range(7)] == (
        ["stage 1", "stage 1 to 2", "stage 2", "stage 2 to 3", "stage 3", "stage 3 to 4", "stage 4"]
    )
    for index, (stage, layer) in enumerate(numbered):
        finer = stage - (layer.query_stride > 1)  # the stage whose places are the keys
        with torch.no_grad():
            grid = encoder.reroll(layer.attn.qkv(read[index]), finer)[0]
        q, k, _ = grid.chunk(3, -1)
        if finer < stage:
            q = q.unfold(0, 2, 2).unfold(1, 2, 2).amax((-2, -1))
        asking, keys = (
            torch.stack(places(*part.shape[:2])) // (8 >> at)
            for part, at in ((q, stage), (k, finer))
        )
        allowed = (asking[:, :, None] == keys[:, None]).all(0) | (finer > 1)
        part = capture.of(groups[index])
        n_heads = layer.attn.num_heads
        agrees(part, index, softmax(heads(q, n_heads), heads(k, n_heads), allowed), allowed)
        assert part.grid == tuple(q.shape[:2])
        assert part.patch == 4 << stage
        if finer < stage:
            assert part.keys is not None
            assert (part.keys.grid, part.keys.patch) == (tuple(k.shape[:2]), 4 << finer)


def test_hiera_without_parts_of_the_picture_is_refused() -> None:
    model = av.from_transformers(HieraModel(shrink("hiera"), is_mae=True).eval())
    with pytest.raises(ModelError, match="leaves out parts of the picture"):
        av.capture(model, inputs={"pixel_values": pixels(64, 64)}, check=False)


@pytest.mark.parametrize(
    ("height", "grids", "sides"),
    [
        (64, [(8, 8), (4, 4), (2, 2)], [8, 16, 32]),
        (48, [(6, 8), None, (2, 2)], [8, 0, 32]),  # 3 rows of 4 are stretched to 4: no squares
    ],
)
def test_mobilevit_s_pixels_attend_to_those_at_their_place_of_a_patch(
    height: int, grids: list[Any], sides: list[int]
) -> None:
    model = loaded("IMAGE_CLASSIFICATION", "mobilevit")
    blocks = [m for m in model.model.modules() if type(m).__name__ == "MobileViTLayer"]
    numbered = [(stage, layer) for stage, b in enumerate(blocks) for layer in b.transformer.layer]
    read = inputs_of([layer for _, layer in numbered])
    maps: list[Tensor] = []
    for block in blocks:
        block.conv_1x1.register_forward_hook(lambda m, args, out: maps.append(out.detach()))
    capture = av.capture(model, inputs={"pixel_values": pixels(height, 64)})
    assert capture.check.logits_error == 0
    assert capture.groups == ("stage 1", "stage 2", "stage 3")
    for index, (stage, layer) in enumerate(numbered):
        _, info = blocks[stage].unfolding(maps[stage])
        grid = blocks[stage].folding(read[index], info | {"interpolate": False})[0]
        grid = grid.permute(1, 2, 0)
        attention = layer.attention.attention
        with torch.no_grad():
            q, k = (heads(part(grid), 4) for part in (attention.query, attention.key))
        where = torch.stack(places(*grid.shape[:2])) % 2
        allowed = (where[:, :, None] == where[:, None]).all(0)
        part = capture.of(f"stage {stage + 1}")
        agrees(part, index, softmax(q, k, allowed), allowed)
        assert (part.grid, part.patch) == (grids[stage], sides[stage])


@pytest.mark.parametrize("name", ["hiera", "mobilevit"])
def test_every_stage_is_drawn_over_the_picture(name: str) -> None:
    picture = np.random.default_rng(0).integers(0, 255, (50, 40, 3), dtype=np.uint8)
    capture = av.capture(loaded("IMAGE_CLASSIFICATION", name), image=picture)
    for group in capture.groups:
        part = capture.of(group)
        view = view_of(part)
        assert view is not None
        rows, columns = view.grid
        assert (rows * view.patch, columns * view.patch) == view.pixels.shape[:2]
        one = seen(part, view, part.captured[0].index, 0, part.n_tokens - 1)
        assert len(one.weights) == rows * columns
        assert len(weights_of(one)["datasets"]["squares"]) == (~one.hidden).sum()

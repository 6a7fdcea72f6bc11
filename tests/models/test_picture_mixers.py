"""Maps of picture models without rows of attention: times V they are what the model multiplies on.

What a module was given and what it made of it is caught by hooks in a run of the model alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

import attnviz as av
from attnviz.errors import AttnvizError
from attnviz.figures import capture_picture
from attnviz.figures.capture import capture_figure, default_head
from attnviz.metrics.layout import likeness
from attnviz.metrics.rollout import chains
from attnviz.models import Capture
from attnviz.models.vision import picture
from tests.models.shrink import build

CLOSE = {"rtol": 1e-5, "atol": 1e-5}


class Caught:
    """(inputs, output) of the parts of modules of a class, in the order of the modules."""

    def __init__(self, model: nn.Module, kind: str, *parts: str) -> None:
        self.modules = [m for m in model.modules() if type(m).__name__ == kind]
        self.flows: dict[tuple[int, str], tuple[Tensor, Tensor]] = {}
        for place, module in enumerate(self.modules):
            for part in parts:
                module.get_submodule(part).register_forward_hook(
                    lambda m, args, out, at=(place, part): self.flows.__setitem__(
                        at, (args[0], out)
                    )
                )


def run(model_type: str, kind: str, *parts: str, **changes: Any) -> tuple[Capture, Caught, Any]:
    """A capture of a random picture that is wider than high, and what a plain run's modules did."""
    torch.manual_seed(0)
    model = build("IMAGE_CLASSIFICATION", model_type, **changes)
    model.config.image_size = 64, 96
    loaded = av.from_transformers(model, None)
    image = np.random.default_rng(0).integers(0, 255, (64, 96, 3), dtype=np.uint8)
    capture = av.capture(loaded, image=image)
    assert capture.check.logits_error == 0.0
    for group in capture.groups:
        drawn(capture.of(group))
    caught = Caught(model, kind, *parts)
    with torch.no_grad():
        model(**picture(loaded, image).inputs)
    return capture, caught, model


def drawn(part: Capture) -> None:
    """The figure and the map over the picture are made, the numbers being the map's own."""
    layer, head = default_head(part)
    figure = capture_figure(part, layer, head)
    assert figure.panels[0].scale == ("signed" if part.signed else "weight")
    view = capture_picture.view_of(part)
    assert view is not None
    assert part.n_keys == view.grid[0] * view.grid[1]
    one = capture_picture.seen(part, view, layer, head, 0)
    np.testing.assert_array_equal(one.weights, part.weights(layer, head)[0])
    assert capture_picture.weights_of(one)
    assert capture_picture.patches_of(one)
    assert capture_picture.in_words(one, layer, head)
    assert part.note
    coarse, _ = part.largest(layer, head, 2)
    tops = np.abs(part.weights(layer, head)).max(-1)
    np.testing.assert_allclose(part.tops(layer, head), tops, **CLOSE)
    np.testing.assert_allclose(np.abs(coarse).max(), tops.max(), **CLOSE)


def each(capture: Capture) -> list[tuple[Capture, int]]:
    return [(capture.of(g), at.index) for g in capture.groups for at in capture.of(g).captured]


def test_poolformer_averages_neighbours_and_takes_the_patch_off() -> None:
    capture, caught, _ = run("poolformer", "PoolFormerPooling", "")
    maps = each(capture)
    assert [index for _, index in maps] == list(range(5))
    assert [capture.of(g).grid for g in capture.groups] == [(16, 24), (8, 12), (4, 6), (2, 3)]
    assert [capture.of(g).patch for g in capture.groups] == [4, 8, 16, 32]
    for place, (part, index) in enumerate(maps):
        given, made = caught.flows[place, ""]
        A = torch.from_numpy(part.weights(index, 0))
        torch.testing.assert_close(given[0].flatten(1) @ A.T, made[0].flatten(1), **CLOSE)
        assert part.signed
        assert part.captured[0].kind == "mixing"
    part, index = maps[-1]
    row, column = torch.meshgrid(torch.arange(2), torch.arange(3), indexing="ij")
    where = torch.stack([row.flatten(), column.flatten()])
    near = ((where[:, :, None] - where[:, None]).abs() <= 1).all(0).float()
    expected = near / near.sum(-1, keepdim=True) - torch.eye(6)
    np.testing.assert_allclose(part.weights(index, 0), expected.numpy(), **CLOSE)
    np.testing.assert_array_equal(part.blocked(index), near.numpy() == 0)
    for measure in (chains, likeness):
        with pytest.raises(AttnvizError, match=r"no softmax weights|has softmax weights"):
            measure(part)


def test_mobilevitv2_has_a_context_vector_for_each_place_in_a_patch() -> None:
    kind = "MobileViTV2LinearSelfAttention"
    capture, caught, model = run("mobilevitv2", kind, "qkv_proj", "out_proj")
    maps = each(capture)
    assert [index for _, index in maps] == list(range(9))
    assert [capture.of(g).patch for g in capture.groups] == [0, 0, 0]  # of the rows, no patches
    keys = [capture.of(group).keys for group in capture.groups]
    assert [(k.grid, k.patch) for k in keys if k] == [((8, 12), 8), ((4, 6), 16), ((2, 2), 32)]
    fold = next(m for m in model.modules() if type(m).__name__ == "MobileViTV2Layer").folding
    for place, (part, index) in enumerate(maps):
        channels = caught.modules[place].embed_dim
        assert isinstance(channels, int)
        _, made = caught.flows[place, "qkv_proj"]
        _, key, value = made.split([1, channels, channels], 1)  # (1, channels, places, patches)
        grid = part.keys.grid if part.keys else None
        on_grid = fold(key, grid)[0].flatten(1)  # (channels, pixels), as the model folds them
        p = torch.from_numpy(part.weights(index, 0))
        context = on_grid @ p.T  # (channels, places)
        torch.testing.assert_close(
            F.relu(value[0]) * context[..., None], caught.flows[place, "out_proj"][0][0], **CLOSE
        )
        np.testing.assert_allclose(p.sum(-1), 1, **CLOSE)
        assert not (p.numpy()[part.blocked(index)]).any()
        assert part.blocked(index).mean() == pytest.approx(3 / 4)


def test_swiftformer_adds_all_queries_up() -> None:
    """The softmax is over an axis of one entry, so that its weights are 1."""
    kind = "SwiftFormerEfficientAdditiveAttention"
    capture, caught, model = run("swiftformer", kind, "to_query", "to_key", "proj")
    maps = each(capture)
    depths = model.config.depths
    assert [index for _, index in maps] == [sum(depths[: at + 1]) - 1 for at in range(4)]
    keys = [capture.of(group).keys for group in capture.groups]
    assert [k.grid for k in keys if k] == [(16, 24), (8, 12), (4, 6), (2, 3)]
    for place, (part, index) in enumerate(maps):
        query, key = (
            F.normalize(caught.flows[place, name][1][0], dim=-1) for name in ("to_query", "to_key")
        )
        A = torch.from_numpy(part.weights(index, 0))
        assert part.signed
        np.testing.assert_array_equal(A, 1.0)
        given = caught.flows[place, "proj"][0][0]  # the global query times every key
        torch.testing.assert_close((A @ query) * key, given, rtol=1e-5, atol=1e-4)
        assert float(given.abs().max()) > 0.01

"""Shifted windows against transformers' Swin, and the windows against a roll done by hand."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from transformers import SwinConfig
from transformers.models.swin.modeling_swin import SwinLayer

import attnviz as av
from attnviz import masks
from attnviz.errors import EmptyRowError
from attnviz.variants.shifted_window import same_window, windows_of
from tests.variants.cases import answering, asking, largest_difference

D_MODEL, HEADS = 12, 3
TOLERANCE = {"float32": 2e-6, "float64": 1e-6}  # theirs takes the softmax in float32


class Nothing(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.zeros_like(x)


def gridded(grid: tuple[int, int], dtype: str = "float32") -> av.Inputs:
    drawn = av.random_inputs(grid[0] * grid[1], D_MODEL, batch=2, seed=1).embeddings
    return av.Inputs(drawn.to(getattr(torch, dtype)), grid=grid)


def by_rolling(grid: tuple[int, int], window: int, shift: int) -> torch.Tensor:
    """(windows, M * M): which patch, numbered row by row, stands at each place of each window."""
    rows, columns = grid
    number = torch.arange(rows * columns).view(rows, columns).roll((-shift, -shift), (0, 1))
    tiles = number.unfold(0, window, window).unfold(1, window, window)
    return tiles.reshape(-1, window * window)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("grid", [(8, 8), (4, 12), (12, 8)])
@pytest.mark.parametrize("shift", ["none", "half"])
def test_it_is_swins(shift: str, grid: tuple[int, int], dtype: str) -> None:
    window = 2 if min(grid) == 4 else 4  # Swin does not shift where one side is a window
    x = gridded(grid, dtype)
    steps = window // 2 if shift == "half" else 0
    layer = SwinLayer(
        SwinConfig(window_size=window, qkv_bias=False), D_MODEL, grid, HEADS, shift_size=steps
    ).to(x.embeddings.dtype).eval()  # fmt: skip
    layer.layernorm_before, layer.mlp = nn.Identity(), Nothing()
    trace = av.run("shifted_window", x, n_heads=HEADS, window=window, shift=shift)
    W, attention = trace.parameters, layer.attention
    with torch.no_grad():
        for letter in "qkvo":
            getattr(attention, f"{letter}_proj").weight.copy_(W[f"W_{letter}"].T)
        attention.o_proj.bias.zero_()
        attention.relative_position_bias.relative_position_bias_table.copy_(W["bias_table"].T)
        hidden, weights = layer(x.embeddings, grid)
    assert largest_difference(trace.output, hidden - x.embeddings) < 5 * TOLERANCE[dtype]
    number = by_rolling(grid, window, steps)
    dense = torch.zeros_like(trace.weights)
    for place, patches in enumerate(number):
        of_window = weights.view(2, len(number), HEADS, window**2, window**2)[:, place]
        dense[:, :, patches[:, None], patches] = of_window
    assert largest_difference(trace.weights, dense) < TOLERANCE[dtype]


def test_a_patch_meets_others_across_the_border_of_the_layer_before() -> None:
    before, after = (same_window((4, 4), 2, shifted) for shifted in (False, True))
    assert before[5].nonzero().flatten().tolist() == [0, 1, 4, 5]
    assert after[5].nonzero().flatten().tolist() == [5, 6, 9, 10]
    assert after[0].nonzero().flatten().tolist() == [0]  # the corner that was rolled away
    for allowed in (before, after):
        assert torch.equal(allowed, allowed.T)


@pytest.mark.parametrize(
    ("size", "window", "expected"),
    [(6, 2, [1, 2, 2, 3, 3, 4]), (5, 4, [1, 1, 2, 2, 2]), (3, 4, [1, 1, 1]), (1, 4, [1])],
)
def test_shifted_windows_along_one_axis(size: int, window: int, expected: list[int]) -> None:
    """Ragged ends and axes shorter than a window too; windows are equal or not, by any number."""
    numbers = windows_of(size, window, True)
    same = numbers[:, None] == numbers
    wanted = torch.tensor(expected)
    assert torch.equal(same, wanted[:, None] == wanted)


def test_a_sequence_is_one_row() -> None:
    x = asking()
    trace = av.run("shifted_window", x, n_heads=2, window=3)
    row = av.run("shifted_window", av.Inputs(x.embeddings, grid=(1, 7)), n_heads=2, window=3)
    assert torch.equal(trace.weights, row.weights)
    assert bool((trace.weights[:, :, 6, :6] == 0).all())


def test_what_cannot_be_is_told() -> None:
    with pytest.raises(av.AttnvizError, match="leave out context"):
        av.run("shifted_window", asking(), context=answering())
    with pytest.raises(EmptyRowError, match="Query 4 has no key"):
        av.run("shifted_window", asking(), mask=masks.prefix(1))
    zero = av.run("shifted_window", asking(), mask=masks.prefix(1), empty_rows="zero")
    assert not bool(zero.weights[:, :, 4:].any())
    with pytest.raises(av.AttnvizError, match="a place for each of the 7 embeddings; received 2"):
        av.Inputs(asking().embeddings, grid=(2, 4))

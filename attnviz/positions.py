"""Where a token stands, told to attention: added sinusoids, or a rotation of queries and keys."""

from __future__ import annotations

import math

import torch
from jaxtyping import Float
from torch import Tensor

from attnviz.errors import AttnvizError


def sinusoidal(length: int, d_model: int, base: float = 10000.0) -> Float[Tensor, "length d_model"]:
    """Position vectors to add to the embeddings (Vaswani et al. 2017, section 3.5), in float64.

    PE[t, 2i] = sin(t / base^(2i / d_model)) and PE[t, 2i + 1] = cos(the same). d_model must be
    even.
    """
    _require_even(d_model, "d_model", "Sinusoidal positions pair a sine with a cosine")
    angles = _angles(length, d_model, base)  # (T, d/2)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)  # interleaved: (T, d)


def rotary_tables(
    length: int, head_dim: int, base: float = 10000.0
) -> tuple[Float[Tensor, "length head_dim"], Float[Tensor, "length head_dim"]]:
    """cos and sin of the angle by which each channel of each position turns, in float64.

    Su et al. 2021 (RoFormer), equation 34, in the layout of Llama: channel c is paired with
    channel c + head_dim / 2. head_dim must be even.
    """
    _require_even(head_dim, "head_dim", "Rotary positions turn channels in pairs")
    angles = _angles(length, head_dim, base).repeat(1, 2)  # (T, head_dim)
    return angles.cos(), angles.sin()


def apply_rotary(
    x: Float[Tensor, "*batch length head_dim"],
    base: float = 10000.0,
    frequencies: Float[Tensor, " half"] | None = None,
) -> Float[Tensor, "*batch length head_dim"]:
    """Turn row t of x by the angles of position t; lengths and dot products at equal distance stay.

    Acts on queries and keys, never on values. frequencies: other than those of the base.
    """
    if frequencies is None:
        cos, sin = rotary_tables(x.shape[-2], x.shape[-1], base)
    else:
        angles = torch.arange(x.shape[-2], dtype=torch.float64)[:, None] * frequencies
        cos, sin = angles.cos().repeat(1, 2), angles.sin().repeat(1, 2)
    cos, sin = cos.to(x), sin.to(x)
    first, second = x.chunk(2, dim=-1)
    return x * cos + torch.cat([-second, first], dim=-1) * sin


def yarn_frequencies(
    head_dim: int, factor: float, base: float = 10000.0, original_length: int = 4096
) -> Float[Tensor, " half"]:
    """Angles a token of each pair, for a context `factor` times as long as in training.

    Peng et al. 2023, YaRN, section 3.2 (arXiv:2309.00071): pairs that turn 32 times or more within
    original_length tokens keep their speed, those that turn once or less are slowed by the factor,
    and those between are blended. In float64.
    """
    _require_even(head_dim, "head_dim", "Rotary positions turn channels in pairs")

    def pair(turns: int) -> float:
        """The pair that turns so often within the original length."""
        return head_dim * math.log(original_length / (turns * 2 * math.pi)) / (2 * math.log(base))

    first, last = max(math.floor(pair(32)), 0), min(math.ceil(pair(1)), head_dim - 1)
    place = torch.arange(head_dim // 2, dtype=torch.float64)
    slowed = ((place - first) / max(last - first, 1e-3)).clamp(0, 1)
    frequencies = base ** (-2 * place / head_dim)
    return frequencies * (1 - slowed) + frequencies / factor * slowed


def detr_sine(grid: tuple[int, int], d_model: int) -> Float[Tensor, "places {d_model}"]:
    """Position vectors of a grid's places, row by row, in float64 (Carion et al. 2020, DETR, A.4).

    The first half of the channels tells the row and the second the column, each counted from 1 and
    stretched to 2 pi, as sines and cosines of falling frequency. d_model must be a multiple of 4.
    """
    if d_model % 4:
        raise AttnvizError(
            f"DETR's positions pair sines with cosines, for rows and for columns, so d_model must "
            f"be a multiple of 4; received {d_model}."
        )
    rows, columns = (_stretched(size, d_model // 2) for size in grid)
    down = rows[:, None].expand(-1, grid[1], -1)  # (rows, columns, d/2)
    along = columns.expand(grid[0], -1, -1)
    return torch.cat([down, along], dim=-1).flatten(0, 1)


def _stretched(size: int, channels: int) -> Tensor:
    place = torch.arange(1, size + 1, dtype=torch.float64) / (size + 1e-6) * 2 * math.pi
    frequencies = 10000.0 ** (-torch.arange(0, channels, 2, dtype=torch.float64) / channels)
    angles = place[:, None] * frequencies
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)  # (size, channels)


def _angles(length: int, channels: int, base: float) -> Tensor:
    frequencies = base ** (-torch.arange(0, channels, 2, dtype=torch.float64) / channels)
    return torch.arange(length, dtype=torch.float64)[:, None] * frequencies  # (T, channels/2)


def _require_even(size: int, word: str, why: str) -> None:
    if size < 2 or size % 2:
        raise AttnvizError(f"{why}, so {word} must be even; received {size}.")

"""Both maps under normal vision and three kinds of colour blindness."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from attnviz.figures import palette
from attnviz.figures.figure import MOST_OTHERS

# Machado, Oliveira and Fernandes (2009), severity 1.0, on linear RGB.
VISION = {
    "normal": np.eye(3),
    "protan": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deutan": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "tritan": np.array(
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ]
    ),
}
TO_XYZ = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
)


def linear(srgb: np.ndarray) -> np.ndarray:
    part = srgb.astype(float) / 255
    return np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)


def lab(srgb: np.ndarray, vision: str) -> np.ndarray:
    """CIELAB (D65) of sRGB bytes as that vision sees them; (n, 3)."""
    seen = np.clip(linear(srgb) @ VISION[vision].T, 0, 1)
    xyz = seen @ TO_XYZ.T / TO_XYZ.sum(axis=1)
    f = np.where(xyz > (6 / 29) ** 3, np.cbrt(xyz), xyz / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.stack(
        [116 * f[:, 1] - 16, 500 * (f[:, 0] - f[:, 1]), 200 * (f[:, 1] - f[:, 2])], axis=1
    )


@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("name", palette.SEQUENTIAL)
def test_sequential_lightness_is_monotone(vision: str, dark: bool, name: str) -> None:
    # Steps of 8, so that rounding to whole bytes does not count.
    lightness = lab(palette.sequential(dark, name)[::8], vision)[:, 0]
    steps = np.diff(lightness)
    assert (steps > 0).all() if dark else (steps < 0).all()


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("name", palette.SEQUENTIAL)
def test_zero_recedes_into_the_page(dark: bool, name: str) -> None:
    nothing, most = lab(palette.sequential(dark, name)[[0, -1]], "normal")[:, 0]
    assert (nothing < 2 and most > 90) if dark else (nothing > 98 and most < 15)
    middle = lab(palette.diverging(dark)[127:129], "normal")[:, 0]
    assert (middle < 20).all() if dark else (middle > 95).all()


@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize("dark", [False, True])
def test_diverging_signs_stay_apart(vision: str, dark: bool) -> None:
    eleven = lab(palette.diverging(dark)[np.linspace(0, 255, 11).round().astype(int)], vision)
    for away in range(1, 6):
        negative, positive = eleven[5 - away], eleven[5 + away]
        assert np.linalg.norm(negative - positive) >= 15, (away, negative, positive)


def test_magma_is_the_published_table() -> None:
    """Control points and a few entries of the CC0 table of github.com/BIDS/colormap."""
    table = palette.sequential(dark=True).astype(int)
    published = {0: (0, 0, 4), 64: (81, 18, 124), 128: (183, 55, 121), 192: (252, 137, 97)}
    for place, colour in (published | {255: (252, 253, 191)}).items():
        assert np.abs(table[place] - colour).max() <= 4, (place, table[place])


def contrast(one: str, other: str) -> float:
    light = [
        float(linear(np.array(list(bytes.fromhex(colour[1:])))) @ TO_XYZ[1])
        for colour in (one, other)
    ]
    return (max(light) + 0.05) / (min(light) + 0.05)


def test_cividis_is_the_published_table() -> None:
    """Entries of the table in the supplement of Nuñez et al. (2018), as matplotlib has it."""
    table = palette.sequential(name="cividis")[::-1].astype(int)  # dark to light, then the page
    assert table[0].tolist() == [0, 34, 78]
    assert np.abs(table - [125, 124, 120]).max(axis=1).min() <= 4  # its middle


@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize("dark", [False, True])
def test_lines_of_any_two_heads_stay_apart(vision: str, dark: bool) -> None:
    colours = palette.LINES[dark]
    assert len(set(colours)) == MOST_OTHERS + 1
    seen = lab(np.array([list(bytes.fromhex(colour[1:])) for colour in colours]), vision)
    for one, other in itertools.combinations(range(len(colours)), 2):
        assert np.linalg.norm(seen[one] - seen[other]) >= 19, (colours[one], colours[other])
    for colour in colours:
        assert contrast(colour, "#12161c" if dark else "#ffffff") >= 3, colour


def test_accents_keep_to_okabe_and_ito_and_can_be_seen() -> None:
    on_light = {name: pair[0] for name, pair in palette.ACCENTS.items()}
    assert [on_light[name] for name in ("query", "key", "value", "output", "highlight")] == [
        "#0072B2",
        "#D55E00",
        "#009E73",
        "#CC79A7",
        "#E69F00",
    ]
    for name, (_, on_dark) in palette.ACCENTS.items():
        assert contrast(on_dark, "#12161c") >= 3, name
    for name in ("query", "key", "value", "plain", "mask"):
        assert contrast(on_light[name], "#ffffff") >= 3, name

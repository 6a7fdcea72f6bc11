"""Pixels and readouts of a known matrix: every palette, every scale, masked and undefined cells."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from playwright.sync_api import Page

from attnviz.figures import palette
from tests.browser import explorer_app
from tests.browser.explorer_page import Explorer, significant

pytestmark = pytest.mark.browser

CELLS = ((0, 0), (0, 4), (1, 0), (2, 3), (4, 1), (5, 5))


def place(scale: str, value: float, row: np.ndarray) -> float:
    """Where on the palette, 0 to 1, a weight stands: by the words of the figure's legend."""
    if scale == "by row":
        return value / float(row.max())
    if scale == "log":  # four decades up to 1
        return 1 + math.log10(value) / 4 if value > 0 else 0
    return value


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("name", palette.SEQUENTIAL)
def test_colours_and_words_are_those_of_the_values(
    opened: Callable[[str], Explorer], page: Page, name: str, dark: bool
) -> None:
    page.emulate_media(color_scheme="dark" if dark else "light")
    explorer = opened("known")
    page.locator(".more summary").click()
    page.get_by_label("Palette").select_option(name)
    page.keyboard.press("Escape")
    panel = explorer_app.chequered().panels[0]
    assert panel.blocked is not None
    values, table = panel.values, palette.sequential(dark, name)
    for scale in ("absolute", "by row", "log"):
        explorer.press(scale)
        for row, col in CELLS:
            weight = float(values[row, col])
            seen = values[row][~panel.blocked[row] & ~np.isnan(values[row])]
            share = min(max(place(scale, weight, seen), 0.0), 1.0)
            expected = table[math.floor(share * 255 + 0.5)].tolist()
            assert explorer.pixel("known", row, col) == expected, (scale, row, col)
            said = explorer.hover("known", row, col)
            above = int((seen > weight).sum())
            allowed = int((~panel.blocked[row]).sum())
            assert f"weight {significant(weight)}, rank {above + 1} of {allowed} in row" in said
        # No colour of the scale: a hatch where masked, dots where undefined, and the word for each.
        for (row, col), word in (((0, 5), "masked"), ((1, 1), "weight undefined")):
            greys = explorer.patch("known", row, col)
            assert len(greys) >= 2
            assert all(max(rgb) - min(rgb) < 20 for rgb in greys), (word, greys)
            assert explorer.hover("known", row, col).endswith(f": {word}")


def test_what_is_below_the_least_is_drawn_as_nothing_and_still_read(
    opened: Callable[[str], Explorer], page: Page
) -> None:
    explorer = opened("known")
    explorer.ask("explorer.change({least: 0.3})")
    explorer.settled()
    table = palette.sequential()
    values = explorer_app.chequered().panels[0].values
    for row, col in ((1, 4), (1, 5), (2, 0), (3, 0)):
        weight = float(values[row, col])
        expected = table[math.floor(weight * 255 + 0.5)] if weight >= 0.3 else table[0]
        assert explorer.pixel("known", row, col) == expected.tolist(), (row, col)
        assert f"weight {significant(weight)}," in explorer.hover("known", row, col)

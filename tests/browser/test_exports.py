"""Every view leaves the page as PNG and SVG, and its numbers whole or as they are in sight."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser import explorer_app
from tests.browser.explorer_page import Explorer, saved, significant
from tests.models.made_up import made_up

pytestmark = pytest.mark.browser

Open = Callable[[str], Explorer]


def drawn(menu: Locator) -> str:
    """The SVG, after the PNG was found to be one."""
    name, png = saved(menu, "png")
    assert name.endswith(".png")
    assert png.startswith(b"\x89PNG")
    assert int.from_bytes(png[16:20]) >= 640, "twice as many pixels as on the page"
    return saved(menu, "svg")[1].decode()


def test_lines_text_row_and_the_whole_comparison(opened: Open, page: Page) -> None:
    explorer = opened("model")
    explorer.ask("explorer.select({panel: 'head', row: 9, col: 0})")
    explorer.press("Row")
    explorer.press("Lines")
    picture = drawn(page.locator(".lines .menu"))
    n_lines = picture.count("<path d=") - 2  # two are of the textures
    assert 1 <= n_lines <= 10, "the chosen query's lines alone"
    assert picture.count("mat") >= 2

    bars = drawn(page.locator(".ranked .menu"))
    for value in sorted(explorer_app.weights(0, 0)[9], reverse=True)[:3]:
        assert f">{significant(value)}</text>" in bars

    explorer.press("Text")
    text = drawn(page.locator(".text .menu"))
    shades = set(re.findall(r'<rect [^>]*fill="(rgb\(\d+, \d+, \d+\))"', text))
    there = page.locator(".running [role=option]").evaluate_all(
        "(items) => items.map((one) => one.style.background).filter(Boolean)"
    )
    assert shades == set(there)
    name, data = saved(page.locator(".text .menu"), "npz")
    assert name == "model-layer0-head0-text.npz"
    with np.load(io.BytesIO(data), allow_pickle=False) as file:
        np.testing.assert_array_equal(file["values"], explorer_app.weights(0, 0))
        assert file["col_tokens"].tolist() == list(explorer_app.model().panels[0].cols.labels)
        assert file["title"].tolist() == ["Layer 0, head 0"]
        assert file["settings"].tolist()[0].startswith("made up, seed 3")

    explorer.press("Compare")
    explorer.press("Row")
    explorer.settled()
    both = drawn(page.locator(".toolbar .menu", has_text="Export all"))
    for title in ("Layer 0, head 0", "Layer 0, head 1", "Difference"):
        assert f">{title}</text>" in both


def test_what_is_in_sight_apart_from_the_whole(opened: Open, page: Page) -> None:
    explorer = opened("model")
    one = explorer_app.model().panels[0]
    menu = page.locator("[data-panel='head'] .menu")
    menu.locator("summary").click()
    expect(menu.locator("[data-export='csv']")).to_be_visible()
    assert menu.locator("[data-export='csv-sight']").count() == 0, "all of it is in sight"
    menu.locator("summary").click()
    explorer.ask("explorer.views.get('head').viewport.zoom(4, 20, 10)")
    explorer.settled()
    _, data = saved(menu, "npz-sight")
    with np.load(io.BytesIO(data), allow_pickle=False) as file:
        rows, cols = file["rows"], file["cols"]
        assert 0 < rows[0] <= 20 <= rows[-1] < 63
        np.testing.assert_array_equal(file["values"], one.values[np.ix_(rows, cols)])
    _, data = saved(menu, "csv-sight")
    table = list(csv.reader(io.StringIO(data.decode("utf-8-sig"), newline="")))
    assert [row[0] for row in table[1:]] == [str(row) for row in rows]
    assert float(table[1][2]) == pytest.approx(one.values[rows[0], cols[0]], abs=0)
    _, data = saved(menu, "npz")
    with np.load(io.BytesIO(data), allow_pickle=False) as file:
        np.testing.assert_array_equal(file["values"], one.values)


def test_all_of_a_long_map_is_a_download(opened: Open, page: Page) -> None:
    explorer = opened("deep")
    explorer.ask("explorer.select({layer: 1, head: 1})")
    page.locator(".explorer:not(.waiting) .title", has_text="Layer 1, head 1").wait_for()
    name, data = saved(page.locator(".panel .menu"), "npz")
    assert name.endswith(".npz")
    with np.load(io.BytesIO(data), allow_pickle=False) as file:
        capture = made_up(1024)
        np.testing.assert_allclose(file["values"], capture.weights(1, 1), rtol=0, atol=1e-6)
        np.testing.assert_array_equal(file["masked"], capture.blocked(1))

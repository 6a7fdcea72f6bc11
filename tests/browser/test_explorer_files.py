"""What leaves the explorer: files with its numbers, and a link to the same picture."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser import explorer_app
from tests.browser.chromium import wait_idle
from tests.browser.explorer_page import Explorer, saved

pytestmark = pytest.mark.browser


def menu(page: Page, panel: str) -> Locator:
    return page.locator(f"[data-panel='{panel}'] .menu")


def test_files_hold_the_figure(opened: Callable[[str], Explorer], page: Page) -> None:
    opened("known")
    name, data = saved(menu(page, "known"), "csv")
    assert name == "known-known.csv"
    rows = list(csv.reader(io.StringIO(data.decode("utf-8-sig"), newline="")))
    assert rows[0][:4] == ["query position", "query", "0 <script>alert(1)</script>", "1 <s>"]
    assert rows[6][1] == '\'="x",1'
    values = explorer_app.chequered().panels[0].values
    got = np.array([[float(x) for x in row[2:]] for row in rows[1:]], np.float32)
    assert np.array_equal(got, values, equal_nan=True)

    name, data = saved(menu(page, "known"), "svg")
    assert name == "known-known.svg"
    assert b"&#60;script&#62;" in data
    assert b"<image" not in data
    assert data.count(b"<rect") > 36

    name, data = saved(menu(page, "signed"), "png")
    assert name == "known-signed.png"
    assert data.startswith(b"\x89PNG")
    width = int.from_bytes(data[16:20])
    assert width >= 640


def test_npz_holds_what_is_in_sight(opened: Callable[[str], Explorer], page: Page) -> None:
    explorer = opened("known")
    explorer.press("Hide special tokens")
    name, data = saved(menu(page, "known"), "npz-sight")
    assert name == "known-known.npz"
    one = explorer_app.chequered().panels[0]
    kept = [0, 2, 3, 4, 5]
    with np.load(io.BytesIO(data), allow_pickle=False) as file:
        assert file["values"].dtype == np.float32
        assert np.array_equal(file["values"], one.values[np.ix_(kept, kept)], equal_nan=True)
        assert one.blocked is not None
        assert np.array_equal(file["masked"], one.blocked[np.ix_(kept, kept)])
        assert file["rows"].tolist() == file["cols"].tolist() == kept
        assert file["col_tokens"].tolist() == [one.cols.labels[place] for place in kept]
        assert file["block"].tolist() == [1]
        assert file["title"].tolist() == ["Known weights"]
        assert "Without the special tokens" in file["settings"].tolist()[0]


@pytest.mark.new_tab
def test_without_a_clipboard_the_link_is_in_a_box(
    opened: Callable[[str], Explorer], page: Page
) -> None:
    page.add_init_script("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
    opened("head")
    page.get_by_label("Export this picture").press("Enter")
    page.locator("[data-export='link']").press("Enter")
    box = page.get_by_role("textbox", name="Copy link: select and copy")
    expect(box).to_have_value(page.url)
    assert box.evaluate("box => box.selectionEnd - box.selectionStart") == len(page.url)
    assert page.locator("[data-export='python']").count() == 0  # this figure has no Python
    box.press("Escape")
    expect(page.locator(".menu[open]")).to_have_count(0)


def test_the_app_makes_a_file_that_works_without_it(
    opened: Callable[[str], Explorer], page: Page, browser: Browser, tmp_path: Path
) -> None:
    explorer = opened("model")
    explorer.ask("explorer.select({layer: 4, head: 7})")
    wait_idle(page)
    name, data = saved(menu(page, "head"), "html")
    assert name == "model-layer4-head7.html"
    path = tmp_path / name
    path.write_bytes(data)
    # The page goes on as before, and a second file is made anew.
    assert explorer.ask("[explorer.selection.layer, explorer.selection.head]") == [4, 7]
    assert saved(menu(page, "head"), "html")[1] == data
    context = browser.new_context(viewport={"width": 1440, "height": 900}, offline=True)
    alone = context.new_page()
    alone.goto(path.as_uri())
    alone.get_by_text("Layer 4, head 7", exact=True).first.wait_for()
    context.close()

"""The standalone file: opened from a disk, without a network."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from attnviz.components.explorer import standalone
from attnviz.figures import capture as captures
from attnviz.figures.figure import Figure, Look, Selection
from tests.browser import explorer_app
from tests.browser.chromium import until
from tests.browser.waiting import when
from tests.models.made_up import made_up

pytestmark = pytest.mark.browser


@pytest.fixture
def from_disk(page: Page, tmp_path: Path) -> Callable[..., Page]:
    def open_file(figure: Figure, **options: Any) -> Page:
        path = tmp_path / "figure.html"
        path.write_text(standalone(figure, **options), encoding="utf-8")
        page.context.set_offline(True)
        page.goto(path.as_uri())
        page.locator(".explorer[data-generation]").wait_for()
        return page

    return open_file


def ask(page: Page, expression: str) -> Any:
    return page.evaluate(
        f"() => {{ const explorer = document.querySelector('.explorer').__explorer;"
        f" return {expression}; }}"
    )


def read(page: Page, panel: str, row: int, col: int) -> str:
    box = ask(page, f"explorer.views.get('{panel}').cellBox({row}, {col})")
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    return page.locator(f"[data-panel='{panel}'] .readout").inner_text()


def test_it_reads_cells_switches_heads_and_views(
    from_disk: Callable[..., Page], console_errors: list[str]
) -> None:
    figure = explorer_app.model(24)
    assert figure.grid is not None
    assert figure.grid.stack is not None
    chosen = Selection(layer=2, head=4, look=Look(palette="cividis"))
    page = from_disk(figure, selection=chosen)
    expect(page.locator(".title").first).to_have_text("Layer 2, head 4")
    row = figure.grid.stack[2, 4, 23]
    best = int(row.argmax())
    assert ask(page, f"explorer.scenes.main.panel.values[23 * 24 + {best}]") == row[best]
    when(
        page,
        lambda: read(page, "head", 23, best),
        lambda said: f"weight {row[best]:.3f}"[:11] in said,
    )
    page.mouse.click(*_thumbnail(page, 7, 1))
    page.get_by_text("Layer 7, head 1", exact=True).first.wait_for()
    until(
        page,
        lambda: ask(page, "explorer.scenes.main.panel.values[30]"),
        figure.grid.stack[7, 1, 1, 6],
    )
    for view in ("Lines", "Text", "Compare", "Matrix"):
        page.get_by_role("button", name=view, exact=True).click()
        until(page, lambda: ask(page, "explorer.scenes.show"), view.lower())
    assert not console_errors


def _thumbnail(page: Page, layer: int, head: int) -> tuple[float, float]:
    box = ask(page, f"explorer.grid.cellBox({layer}, {head})")
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_a_head_that_is_not_in_the_file_is_named(from_disk: Callable[..., Page]) -> None:
    capture = made_up(40)
    figure = captures.capture_figure(capture, 0, 0)
    assert figure.grid is not None
    one = replace(figure, grid=replace(figure.grid, stack=None, first=(0, 0)))
    page = from_disk(
        one, source=lambda asked: captures.part(capture, asked), most=2 * 40 * 40 * 4 + 2_000
    )
    ask(page, "explorer.select({layer: 0, head: 1})")
    expect(page.locator(".title").first).to_have_text("Layer 0, head 1")
    shown = ask(page, "Array.from(explorer.scenes.main.panel.values.slice(0, 1600))")
    assert np.array_equal(np.array(shown, np.float32).reshape(40, 40), capture.weights(0, 1))
    last = captures.layers(capture)[-1]
    ask(page, f"explorer.select({{layer: {last}, head: 0}})")
    said = page.locator("#says")
    expect(said).to_have_text(f"The map of layer {last}, head 0 is not in this file.")
    expect(page.locator("footer")).to_contain_text("of numbers")


def test_hostile_tokens_run_nothing(from_disk: Callable[..., Page]) -> None:
    page = from_disk(explorer_app.hostile())
    assert page.locator("img").count() == 0
    page.get_by_role("button", name="Text", exact=True).click()
    expect(page.locator(".running").first).to_contain_text("<b>")
    assert page.locator(".running b, .running img").count() == 0

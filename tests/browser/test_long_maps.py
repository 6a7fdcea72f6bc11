"""Exact parts of maps too long to be sent whole, and the cache of heads, over known numbers."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
import pytest
from playwright.sync_api import Page, WebSocket, expect

from attnviz.models.captures import Capture
from tests.browser.chromium import until, wait_idle
from tests.browser.explorer_page import Explorer
from tests.browser.waiting import rest, says, when
from tests.models.made_up import made_up

pytestmark = pytest.mark.browser

Open = Callable[[str], Explorer]
N = 1024


@pytest.fixture(scope="module")
def capture() -> Capture:
    """What the app's case "deep" shows."""
    return made_up(N)


def exact_parts(explorer: Explorer, panel: str) -> None:
    explorer.until("explorer.views.get(argument).viewport.missing()", None, panel)


def point_at_the_overview(explorer: Explorer, cells: str) -> None:
    """Point into the map, of which a cell of the overview stands for so many."""
    page = explorer.page
    page.locator(".zoombar").first.scroll_into_view_if_needed()
    explorer.settled()
    page.mouse.move(*explorer.middle("weights", 0.7, 0.3))
    expect(page.locator(".panel .readout")).to_contain_text(f", the largest of {cells} cells here")


def reads(explorer: Explorer, panel: str, row: int, col: int, weight: float) -> None:
    """Wait until this cell, pointed at, gives its weight."""

    def value() -> float:
        explorer.hover(panel, row, col)
        said = explorer.page.locator(".panel .cell").first.get_attribute("data-value")
        return float(said or "nan")

    when(explorer.page, value, lambda now: abs(now - weight) <= 3e-6)


def choose(explorer: Explorer, layer: int, head: int) -> None:
    explorer.click_head(layer, head)
    explorer.until(
        "[explorer.root.querySelector('h2.title').textContent,"
        " explorer.root.classList.contains('waiting')]",
        [f"Layer {layer}, head {head}", False],
    )


def test_exact_parts_come_with_zooming_and_equal_the_weights(
    opened: Open, page: Page, capture: Capture
) -> None:
    explorer = opened(f"deep&n={N}")
    point_at_the_overview(explorer, "2 × 2")
    expect(page.locator(".panel .cell")).to_have_attribute("data-value", "")
    explorer.wheel_in("weights", 9)
    exact_parts(explorer, "weights")
    made = explorer.plan("weights")
    # The map's top is above the screen.
    first, left = int(made["row"] + 0.6 * made["nRows"]), int(made["col"]) + 1
    weights = capture.weights(0, 0)
    shown = explorer.ask(
        "(({host, scene: {panel}}) => panel.source.tiles().filter(t => t.block === 1)"
        ".map(t => [t.rows, t.cols, Array.from(t.values)]))(explorer.views.get('weights'))"
    )
    assert shown
    for rows, cols, values in shown:
        part = weights[slice(*rows), slice(*cols)]
        np.testing.assert_allclose(np.reshape(values, part.shape), part, atol=3e-6)
    for row, col in ((first, left), (first + 3, left + 2)):
        reads(explorer, "weights", row, col, weights[row, col])
    above = int((weights[row, : row + 1] > weights[row, col]).sum())
    rank = f"rank {above + 1} of {row + 1} in row"
    expect(page.locator(".panel .readout")).to_contain_text(rank)

    # The zoom is kept among the heads of a text, and each head's own part comes.
    before = explorer.window("weights")
    explorer.ask("explorer.select({layer: 1, head: 1})")
    page.get_by_text("Layer 1, head 1").first.wait_for()
    explorer.until("explorer.root.classList.contains('waiting')", False)
    exact_parts(explorer, "weights")
    assert explorer.window("weights") == before
    explorer.hover("weights", first, left + 1)
    reads(explorer, "weights", first, left, capture.weights(1, 1)[first, left])


def exact_tiles(explorer: Explorer, panel: str, longest: Capture) -> int:
    """Every single-cell number that the browser has, compared with the weights; how many parts."""
    shown = explorer.ask(
        "(({ scene: { panel } }) => panel.source.tiles().filter(t => t.block === 1)"
        ".map(t => [t.rows, t.cols, Array.from(t.values)]))(explorer.views.get(argument))",
        panel,
    )
    for rows, cols, values in shown:
        part = longest.weights(0, 0, rows=slice(*rows), cols=slice(*cols))
        np.testing.assert_allclose(np.reshape(values, part.shape), part, atol=3e-6)
    return len(shown)


def test_8192_tokens_are_zoomed_and_panned_down_to_single_exact_cells(
    opened: Open, page: Page
) -> None:
    longest = made_up(8192)  # what the app's case shows
    explorer = opened("deep&n=8192")
    assert explorer.ask("explorer.figure.panels[0].rows.labels.length") == 8192
    point_at_the_overview(explorer, "16 × 16")
    explorer.wheel_in("weights", 13)
    exact_parts(explorer, "weights")
    for pan in (None, "Shift+ArrowUp", "Shift+ArrowLeft", "Shift+ArrowLeft"):
        if pan is not None:
            page.locator(".panel [role=grid]").first.focus()
            page.keyboard.press(pan)
            exact_parts(explorer, "weights")
        assert exact_tiles(explorer, "weights", longest) > 0
        made = explorer.plan("weights")
        assert made["nRows"] < 100
        row, col = int(made["row"] + made["nRows"] / 2), int(made["col"]) + 2
        weight = longest.weights(0, 0, rows=slice(row, row + 1), cols=slice(col, col + 1))
        reads(explorer, "weights", row, col, weight.item())
    page.keyboard.press("0")
    until(page, lambda: explorer.window("weights"), [1, 0, 0])


def test_heads_fetched_before_are_switched_without_a_frame(page: Page, opened: Open) -> None:
    frames: list[tuple[str, int]] = []

    def watch(socket: WebSocket) -> None:
        socket.on("framesent", lambda data: frames.append(("sent", len(data))))
        socket.on("framereceived", lambda data: frames.append(("received", len(data))))

    page.on("websocket", watch)
    explorer = opened(f"deep&n={N}")
    for layer, head in ((0, 1), (1, 2)):
        frames.clear()
        choose(explorer, layer, head)
        wait_idle(page)
        # One question and its answer; the figure is not sent again.
        assert sum(kind == "sent" for kind, _ in frames) == 1
        assert max(size for _, size in frames) < 1_500_000
    frames.clear()
    for layer, head in ((0, 0), (0, 1), (1, 2), (0, 1)):
        choose(explorer, layer, head)
    rest(page, 400)
    assert frames == []
    says(page, layer="0", head="1")

    # The page hears of the head when it next runs, and at once when something there depends on it.
    assert "layer=None" in page.get_by_text("picked Selection").inner_text()
    page.get_by_text("Run again").click()
    page.get_by_text("layer=0, head=1").wait_for()
    page.get_by_text("Listen").click()
    wait_idle(page)
    choose(explorer, 1, 2)
    page.get_by_text("layer=1, head=2").wait_for()


def test_a_client_that_asks_for_too_much_gets_a_sentence(opened: Open, page: Page) -> None:
    explorer = opened(f"deep&n={N}")
    for asked in (
        {"layer": 0, "head": 0, "rows": [0, N], "cols": [0, N], "block": 1},
        {"layer": 99, "head": 0, "rows": None, "cols": None, "block": 1},
        {"layer": 0, "head": 0, "rows": [-5, 9], "cols": [0, 9], "block": 1},
    ):
        refusal = explorer.ask(
            "new Promise(resolve => { const {wire} = explorer.depot; const before = wire.connect;"
            " wire.connect = function (send, note) { wire.connect = before; "
            "resolve(note.answer?.refusal ?? 'none'); return before.call(wire, send, note); };"
            f" wire.ask('tile', {json.dumps(asked)}); }})"
        )
        assert "expected" in refusal, refusal

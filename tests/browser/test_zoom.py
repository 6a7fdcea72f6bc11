"""Zoom, exact parts of long maps and the cache of heads, over maps whose every number is known."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, WebSocket

from attnviz.models.captures import Capture
from tests.browser import explorer_app
from tests.browser.chromium import wait_idle
from tests.browser.explorer_page import FIND, Explorer, significant
from tests.models.made_up import made_up

pytestmark = pytest.mark.browser

Open = Callable[[str], Explorer]
N = 1024
VIEW = "explorer.views.get('{panel}')"


@pytest.fixture(scope="module")
def capture() -> Capture:
    """What the app's case "deep" shows."""
    return made_up(N)


def plan(explorer: Explorer, panel: str) -> dict[str, Any]:
    return explorer.ask(f"{VIEW.format(panel=panel)}.scene.plan")


def window(explorer: Explorer, panel: str) -> list[float]:
    return explorer.ask(
        f"(({{zoom, row, col}}) => [zoom, row, col])({VIEW.format(panel=panel)}.viewport.window)"
    )


def middle(
    explorer: Explorer, panel: str, down: float = 0.5, right: float = 0.5
) -> tuple[float, float]:
    box = explorer.ask(
        f"(({{base, scene: {{plan}}}}) => {{ const b = base.getBoundingClientRect(); "
        f"return [b.left + plan.x, b.top + plan.y, plan.w, plan.h]; }})({VIEW.format(panel=panel)})"
    )
    # Whole pixels: a wheel event has no parts of one.
    return int(box[0] + right * box[2]), int(box[1] + down * box[3])


def in_sight(page: Page) -> None:
    page.locator(".zoombar").first.scroll_into_view_if_needed()
    page.wait_for_timeout(50)


def exact_parts(explorer: Explorer, panel: str) -> None:
    before = None
    while before != (before := window(explorer, panel)):  # wheel events arrive when they like
        explorer.page.wait_for_timeout(250)
    explorer.page.wait_for_function(
        f"() => ({FIND})().__explorer.views.get('{panel}').viewport.missing() === null"
    )
    explorer.settled()


def choose(explorer: Explorer, layer: int, head: int) -> None:
    box = explorer.ask(f"explorer.grid.cellBox({layer}, {head})")
    explorer.page.mouse.click(box["x"] + 5, box["y"] + 5)
    explorer.page.wait_for_function(
        f"() => {{ const root = ({FIND})(); return !root.classList.contains('waiting') && "
        f"root.querySelector('h2.title').textContent === 'Layer {layer}, head {head}'; }}"
    )
    explorer.settled()


def test_a_wheel_zooms_with_ctrl_and_scrolls_the_page_without(opened: Open, page: Page) -> None:
    explorer = opened("long")
    x, y = middle(explorer, "head", 0.2505, 0.2005)
    page.mouse.move(x, y)
    page.mouse.wheel(0, 60)
    page.wait_for_timeout(100)
    assert window(explorer, "head")[0] == 1
    assert "on" in (page.locator(".hint").get_attribute("class") or "").split()
    x, y = middle(explorer, "head", 0.2505, 0.2005)
    page.mouse.move(x, y)
    before = explorer.readout("head")
    page.keyboard.down("Control")
    page.mouse.wheel(0, -100)
    page.mouse.wheel(0, -100)
    page.keyboard.up("Control")
    explorer.settled()
    zoom = window(explorer, "head")[0]
    assert 2 < zoom < 4
    # The cell under the pointer is still there.
    page.mouse.move(x + 1, y)
    page.mouse.move(x, y)
    assert explorer.readout("head") == before
    page.mouse.wheel(0, -100)  # a plain wheel acts on a zoomed map
    explorer.settled()
    assert window(explorer, "head")[0] > zoom
    for _ in range(8):
        page.mouse.wheel(0, 100)
    explorer.settled()
    assert window(explorer, "head") == [1, 0, 0]


def test_drag_keys_buttons_and_double_click(opened: Open, page: Page) -> None:
    explorer = opened("long")
    zoom_in = page.get_by_role("button", name="Zoom in (+)")
    for _ in range(4):
        zoom_in.click()
    explorer.settled()
    zoom, row, col = window(explorer, "head")
    assert zoom == pytest.approx(1.6**4)
    made = plan(explorer, "head")
    x, y = middle(explorer, "head")
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 60, y - 30, steps=4)
    page.mouse.up()
    explorer.settled()
    moved = window(explorer, "head")
    assert moved[1] == pytest.approx(row + 30 / made["cellH"], abs=0.01)
    assert moved[2] == pytest.approx(col + 60 / made["cellW"], abs=0.01)
    assert explorer.ask("explorer.selection.row") is None  # a drag keeps no cell
    page.get_by_role("button", name="Move left (Shift + ←)").click()
    explorer.settled()
    assert window(explorer, "head")[2] < moved[2]

    plot = page.locator(".panel [role=grid]")
    plot.focus()
    page.keyboard.press("0")
    explorer.settled()
    assert window(explorer, "head") == [1, 0, 0]
    for key in ("ArrowDown", "ArrowRight", "+", "+", "+"):
        page.keyboard.press(key)
    explorer.settled()
    zoom, row = window(explorer, "head")[:2]
    assert zoom == pytest.approx(1.6**3)
    page.keyboard.press("Shift+ArrowDown")
    explorer.settled()
    assert window(explorer, "head")[1] > row
    page.keyboard.press("ArrowUp")  # the keyboard's cell comes back into sight
    explorer.settled()
    assert window(explorer, "head")[1] == 0
    page.keyboard.press("-")
    explorer.settled()
    assert window(explorer, "head")[0] == pytest.approx(1.6**2)
    page.get_by_role("button", name="Fit: show all of the map (0)").click()
    explorer.settled()
    page.mouse.dblclick(*middle(explorer, "head"))
    explorer.settled()
    assert window(explorer, "head")[0] == pytest.approx(2)


def test_labels_stay_at_the_edges_and_are_those_in_sight(opened: Open, page: Page) -> None:
    explorer = opened("long")
    whole = plan(explorer, "head")
    values = explorer_app.long().panels[0].values
    page.mouse.move(*middle(explorer, "head", 0.8, 0.3))
    page.keyboard.down("Control")
    for _ in range(8):
        page.mouse.wheel(0, -100)
    page.keyboard.up("Control")
    explorer.settled()
    made = plan(explorer, "head")
    assert [made[side] for side in "xywh"] == [whole[side] for side in "xywh"]
    assert made["numbers"]
    first, last = made["row"], made["row"] + made["nRows"]
    assert all(first <= tick["at"] + 0.5 <= last for tick in made["rowTicks"])
    assert made["rowTicks"][0]["text"].startswith(f"{made['rowTicks'][0]['at']} ")
    row, col = int(first) + 2, int(made["col"]) + 2
    said = explorer.hover("head", row, col)
    assert f" {row} → " in said
    assert f"weight {significant(float(values[row, col]))}, rank" in said
    value = page.locator(".panel .cell").get_attribute("data-value")
    assert np.float32(value) == values[row, col]
    # Colours are those of the whole map's scale.
    table = explorer.ask("Array.from(explorer.theme.sequential)")
    place = round(255 * min(max(1 + np.log10(max(values[row, col], 1e-9)) / 4, 0), 1))
    box = f"{VIEW.format(panel='head')}.cellBox({row}, {col})"
    pixel = explorer.ask(
        f"""(({{base, scene: {{ratio}}}}, box) => {{
          const at = base.getBoundingClientRect();
          const [x, y] = [box.x - at.x + box.width * 0.15, box.y - at.y + box.height * 0.15];
          const data = base.getContext('2d').getImageData(x * ratio, y * ratio, 1, 1).data;
          return Array.from(data.slice(0, 3));
        }})({VIEW.format(panel="head")}, {box})"""
    )
    assert pixel == table[3 * place : 3 * place + 3]
    frame = float(page.locator(".panel").get_attribute("data-frame-ms") or "nan")
    assert frame < 100, frame  # 33 by the benchmark; this machine may be busy


def test_exact_parts_come_with_zooming_and_equal_the_weights(
    opened: Open, page: Page, capture: Capture
) -> None:
    explorer = opened(f"deep&n={N}")
    in_sight(page)
    page.mouse.move(*middle(explorer, "weights", 0.7, 0.3))
    explorer.settled()
    assert ", the largest of 2 × 2 cells here" in explorer.readout("weights")
    assert page.locator(".panel .cell").get_attribute("data-value") == ""
    page.keyboard.down("Control")
    for _ in range(9):
        page.mouse.wheel(0, -100)
    page.keyboard.up("Control")
    exact_parts(explorer, "weights")
    made = plan(explorer, "weights")
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
        said = explorer.hover("weights", row, col)
        value = page.locator(".panel .cell").get_attribute("data-value")
        assert value, (said, made, row, col)
        assert abs(float(value) - weights[row, col]) <= 3e-6
    page.wait_for_function(
        f"() => ({FIND})().querySelector('.panel .readout').textContent.includes('rank')"
    )
    above = int((weights[row, : row + 1] > weights[row, col]).sum())
    assert f"rank {above + 1} of {row + 1} in row" in explorer.readout("weights")

    # The zoom is kept among the heads of a text, and each head's own part comes.
    before = window(explorer, "weights")
    explorer.ask("explorer.select({layer: 1, head: 1})")
    page.get_by_text("Layer 1, head 1").first.wait_for()
    page.wait_for_function(f"() => !({FIND})().classList.contains('waiting')")
    exact_parts(explorer, "weights")
    assert window(explorer, "weights") == before
    explorer.hover("weights", first, left + 1)
    explorer.hover("weights", first, left)
    value = page.locator(".panel .cell").get_attribute("data-value")
    assert abs(float(value or "nan") - capture.weights(1, 1)[first, left]) <= 3e-6


def exact_tiles(explorer: Explorer, panel: str, longest: Capture) -> int:
    """Every single-cell number that the browser has, compared with the weights; how many parts."""
    shown = explorer.ask(
        f"(({{scene: {{panel}}}}) => panel.source.tiles().filter(t => t.block === 1)"
        f".map(t => [t.rows, t.cols, Array.from(t.values)]))({VIEW.format(panel=panel)})"
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
    in_sight(page)
    assert explorer.ask("explorer.figure.panels[0].rows.labels.length") == 8192
    page.mouse.move(*middle(explorer, "weights", 0.7, 0.3))
    explorer.settled()
    assert ", the largest of 16 × 16 cells here" in explorer.readout("weights")
    page.keyboard.down("Control")
    for _ in range(13):
        page.mouse.wheel(0, -100)
        page.wait_for_timeout(40)
    page.keyboard.up("Control")
    exact_parts(explorer, "weights")
    for pan in (None, "Shift+ArrowUp", "Shift+ArrowLeft", "Shift+ArrowLeft"):
        if pan is not None:
            page.locator(".panel [role=grid]").first.focus()
            page.keyboard.press(pan)
            exact_parts(explorer, "weights")
        assert exact_tiles(explorer, "weights", longest) > 0
        made = plan(explorer, "weights")
        assert made["nRows"] < 100
        row, col = int(made["row"] + made["nRows"] / 2), int(made["col"]) + 2
        explorer.hover("weights", row, col)
        value = page.locator(".panel .cell").first.get_attribute("data-value")
        weight = longest.weights(0, 0, rows=slice(row, row + 1), cols=slice(col, col + 1))
        assert abs(float(value or "nan") - weight.item()) <= 3e-6
    page.keyboard.press("0")
    explorer.settled()
    assert window(explorer, "weights") == [1, 0, 0]


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
    page.wait_for_timeout(400)
    assert frames == []
    assert "layer=0" in page.url
    assert "head=1" in page.url

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

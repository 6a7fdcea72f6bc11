"""The mounted explorer, as a reader and as a test sees it, however slow the machine is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import Locator, Page

from tests.browser.chromium import DUE, PATIENCE, until

FIND = """() => {
  for (const element of document.querySelectorAll('*')) {
    const root = element.shadowRoot?.querySelector('.explorer');
    if (root) return root;
  }
}"""
# There is an instance, and it has drawn what was asked for.
_READY = f"""async (patience) => {{
  const end = performance.now() + patience;
  while (performance.now() < end) {{
    const explorer = ({FIND})()?.__explorer;
    if (explorer && !({DUE})(explorer)) return explorer;
    await new Promise((then) => setTimeout(then, 5));
  }}
  throw new Error(`no explorer that is done with drawing within ${{patience}} ms`);
}}"""


class Explorer:
    """What is asked of the explorer is answered once it has drawn all that was due.

    What comes later, from the server or after a timer, has to be waited for: `until`.
    """

    def __init__(self, page: Page) -> None:
        self.page = page

    def ask(self, expression: str, argument: Any = None) -> Any:
        """Evaluate JavaScript with `explorer` (the instance) and `argument` in reach."""
        return self.page.evaluate(
            f"""async ([argument, patience]) => {{
              const explorer = await ({_READY})(patience);
              return {expression};
            }}""",
            [argument, 1000 * PATIENCE],
        )

    def until(self, expression: str, expected: Any, argument: Any = None) -> None:
        """Wait until `ask` answers what is expected, or fail with its last answer."""
        until(self.page, lambda: self.ask(expression, argument), expected)

    def settled(self) -> None:
        """What was asked for has been drawn, and is on the screen."""
        self.ask("await new Promise(r => requestAnimationFrame(() => setTimeout(r, 30)))")

    def plan(self, panel: str) -> dict[str, Any]:
        """Where what is in sight of a map is drawn."""
        return self.ask("explorer.views.get(argument).scene.plan", panel)

    def window(self, panel: str) -> list[float]:
        """What is in sight of a map: zoom, first row, first column."""
        return self.ask(
            "(({ zoom, row, col }) => [zoom, row, col])"
            "(explorer.views.get(argument).viewport.window)",
            panel,
        )

    def middle(self, panel: str, down: float = 0.5, right: float = 0.5) -> tuple[float, float]:
        """A place on a map, by its shares of the height and the width."""
        x, y, wide, high = self.ask(
            "(({ base, scene: { plan } }) => { const box = base.getBoundingClientRect();"
            " return [box.left + plan.x, box.top + plan.y, plan.w, plan.h]; })"
            "(explorer.views.get(argument))",
            panel,
        )
        # Whole pixels: a wheel event has no parts of one.
        return int(x + right * wide), int(y + down * high)

    def wheel_in(self, panel: str, notches: int) -> None:
        """Zoom in at the pointer, each notch once the last has been heard: a busy browser makes
        one of several."""
        most = self.ask("explorer.views.get(argument).viewport.map().most", panel)
        self.page.keyboard.down("Control")
        for _ in range(notches):
            zoom = self.window(panel)[0]
            if zoom == most:
                break
            self.page.mouse.wheel(0, -100)
            self.until(f"explorer.views.get(argument).viewport.window.zoom > {zoom}", True, panel)
        self.page.keyboard.up("Control")

    def cell(self, panel: str, row: int, col: int) -> tuple[float, float]:
        box = self.ask(
            "explorer.views.get(argument[0]).cellBox(argument[1], argument[2])", [panel, row, col]
        )
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    def point(self, panel: str, row: int, col: int) -> tuple[float, float]:
        """Move the pointer onto the cell, after it if what is above it has grown. Returns where."""
        for _ in range(100):
            place = self.cell(panel, row, col)
            self.page.mouse.move(*place)
            if self.cell(panel, row, col) == place:
                return place
        raise AssertionError(f"cell ({row}, {col}) of {panel} moves all the time")

    def hover(self, panel: str, row: int, col: int) -> str:
        self.point(panel, row, col)
        return self.readout(panel)

    def click(self, panel: str, row: int, col: int) -> None:
        self.page.mouse.click(*self.point(panel, row, col))

    def click_head(self, layer: int, head: int) -> None:
        """Choose a head by its small map."""
        self.page.mouse.click(*self.small_map(layer, head))

    def small_map(self, layer: int, head: int) -> tuple[float, float]:
        """Where a head is in the grid of all."""
        box = self.ask("explorer.grid.cellBox(...argument)", [layer, head])
        return box["x"] + 5, box["y"] + 5

    def readout(self, panel: str) -> str:
        return self.page.locator(f"[data-panel='{panel}'] .readout").inner_text()

    def pixel(self, panel: str, row: int, col: int) -> list[int]:
        """RGB of the drawn map near a corner of the cell, away from its number."""
        return self.ask(
            """(() => {
              const { base, scene: { plan, shown, ratio } } = explorer.views.get(argument[0]);
              const x = plan.x + (shown.cols.indexOf(argument[2]) + 0.15) * plan.cellW;
              const y = plan.y + (shown.rows.indexOf(argument[1]) + 0.15) * plan.cellH;
              return Array.from(base.getContext('2d')
                .getImageData(Math.round(x * ratio), Math.round(y * ratio), 1, 1).data.slice(0, 3));
            })()""",
            [panel, row, col],
        )

    def patch(self, panel: str, row: int, col: int) -> set[tuple[int, ...]]:
        """All colours inside the cell."""
        data = self.ask(
            """(() => {
              const { base, scene: { plan, shown, ratio } } = explorer.views.get(argument[0]);
              const x = plan.x + shown.cols.indexOf(argument[2]) * plan.cellW + 2;
              const y = plan.y + shown.rows.indexOf(argument[1]) * plan.cellH + 2;
              const [w, h] = [plan.cellW - 4, plan.cellH - 4];
              return Array.from(base.getContext('2d').getImageData(
                Math.round(x * ratio), Math.round(y * ratio),
                Math.round(w * ratio), Math.round(h * ratio)).data);
            })()""",
            [panel, row, col],
        )
        return {tuple(data[i : i + 3]) for i in range(0, len(data), 4)}

    def press(self, name: str) -> None:
        self.ask("null")  # buttons come and go as the picture does
        button = self.page.get_by_role("button", name=name, exact=True).first
        if button.count() == 0:
            self.page.locator(".more summary").first.click()
        button.click()
        self.settled()


def colour(value: float, table: np.ndarray) -> list[int]:
    return table[round(255 * min(max(value, 0.0), 1.0))].tolist()


def significant(value: float) -> str:
    """Three significant digits, as the explorer writes them."""
    if value == 0:
        return "0"
    if abs(value) < 1e-4:
        mantissa, exponent = f"{value:.2e}".split("e")
        return f"{mantissa}e{int(exponent)}".replace("-", "−")
    return f"{value:#.3g}"


def saved(menu: Locator, kind: str) -> tuple[str, bytes]:
    """The file of that kind which an export menu hands out: its name, and what is in it."""
    menu.locator("summary").click()
    with menu.page.expect_download() as download:
        menu.locator(f"[data-export='{kind}']").click()
    return download.value.suggested_filename, Path(download.value.path()).read_bytes()

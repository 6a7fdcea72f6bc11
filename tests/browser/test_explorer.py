"""The explorer in a browser, over figures whose every number is known."""

from __future__ import annotations

import csv
import io
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, Page

from attnviz.figures import palette
from tests.browser import explorer_app
from tests.browser.chromium import wait_idle
from tests.browser.server import ROOT, free_port

pytestmark = pytest.mark.browser

FIND = """() => {
  for (const element of document.querySelectorAll('*')) {
    const root = element.shadowRoot?.querySelector('.explorer');
    if (root) return root;
  }
}"""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A server of explorer_app.py."""
    url = f"http://127.0.0.1:{(port := free_port())}"
    command = [sys.executable, "-m", "streamlit", "run", "tests/browser/explorer_app.py"]
    options = ["--server.address", "127.0.0.1", "--server.port", str(port)]
    process = subprocess.Popen([*command, *options], cwd=ROOT, stdout=subprocess.DEVNULL)
    try:
        for _ in range(300):
            try:
                urllib.request.urlopen(f"{url}/_stcore/health", timeout=1).close()
                break
            except OSError:
                time.sleep(0.1)
        yield url
    finally:
        process.terminate()
        process.wait(timeout=10)


@pytest.fixture
def opened(page: Page, address: str) -> Callable[[str], Explorer]:
    def open_case(case: str) -> Explorer:
        page.goto(f"{address}/?case={case}")
        page.locator(".explorer[data-generation]").wait_for()
        wait_idle(page)
        page.evaluate("() => document.fonts.ready")
        return Explorer(page)

    return open_case


class Explorer:
    """The mounted explorer, as a reader and as a test sees it."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def ask(self, expression: str, argument: Any = None) -> Any:
        """Evaluate JavaScript with `explorer` (the instance) and `argument` in reach."""
        return self.page.evaluate(
            f"(argument) => {{ const explorer = ({FIND})().__explorer; return {expression}; }}",
            argument,
        )

    def settled(self) -> None:
        """Two frames: what was asked for has been drawn."""
        self.page.evaluate("() => new Promise(r => requestAnimationFrame(() => setTimeout(r, 30)))")

    def cell(self, panel: str, row: int, col: int) -> tuple[float, float]:
        box = self.ask(
            "explorer.views.get(argument[0]).cellBox(argument[1], argument[2])", [panel, row, col]
        )
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    def hover(self, panel: str, row: int, col: int) -> str:
        self.page.mouse.move(*self.cell(panel, row, col))
        return self.readout(panel)

    def readout(self, panel: str) -> str:
        return self.page.locator(f"[data-panel='{panel}'] .readout").inner_text()

    def pixel(
        self, panel: str, row: int, col: int, dx: float = 0.15, dy: float = 0.15
    ) -> list[int]:
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
        button = self.page.get_by_role("button", name=name, exact=True).first
        if button.count() == 0:
            self.page.locator(".more summary").first.click()
        button.click()
        self.settled()


def colour(value: float, table: np.ndarray) -> list[int]:
    return table[round(255 * min(max(value, 0.0), 1.0))].tolist()


def test_pixels_and_readouts_are_the_values(opened: Callable[[str], Explorer]) -> None:
    explorer = opened("known")
    values = explorer_app.chequered().panels[0].values
    light, both = palette.sequential(), palette.diverging()
    for row, col in ((0, 0), (2, 3), (5, 5), (4, 1)):
        weight = float(values[row, col])
        assert explorer.pixel("known", row, col) == colour(weight, light)
        said = explorer.hover("known", row, col)
        assert f"weight {significant(weight)}," in said
        signed = -1 + 2 * (row * 6 + col) / 35
        assert explorer.pixel("signed", row, col) == colour((signed + 1) / 2, both)
        assert significant(abs(signed)) in explorer.readout("signed")

    explorer.press("by row")
    row_top = values[2].max()
    assert explorer.pixel("known", 2, 1) == colour(float(values[2, 1] / row_top), light)
    assert explorer.pixel("known", 2, 5) == colour(1, light)
    assert explorer.pixel("signed", 5, 5) == colour(1, both)


def test_masked_and_undefined_cells_have_patterns_of_their_own(
    opened: Callable[[str], Explorer],
) -> None:
    explorer = opened("known")
    masked, undefined = explorer.patch("known", 0, 5), explorer.patch("known", 1, 1)
    assert len(masked) > 2
    assert len(undefined) == 2
    # A hatch is grey, and no colour of the scale.
    assert all(max(rgb) - min(rgb) < 16 for rgb in masked | undefined)
    assert explorer.hover("known", 0, 5).endswith(": masked")
    assert explorer.hover("known", 1, 1).endswith(": weight undefined")


def test_dark_uses_the_other_ends(opened: Callable[[str], Explorer], page: Page) -> None:
    page.emulate_media(color_scheme="dark")
    explorer = opened("known")
    assert explorer.pixel("known", 5, 5) == colour(1, palette.sequential(dark=True))
    assert explorer.pixel("signed", 0, 0) == colour(0, palette.diverging(dark=True))
    page.emulate_media(color_scheme="light")
    page.wait_for_function(f"() => ({FIND})().__explorer.theme.dark === false")
    explorer.settled()
    assert explorer.pixel("known", 5, 5) == colour(1, palette.sequential())


def test_tokens_are_text_and_repeated_ones_stay_apart(
    opened: Callable[[str], Explorer], page: Page
) -> None:
    scripts = "() => document.querySelectorAll('script').length"
    explorer = opened("known")
    before = page.evaluate(scripts)
    assert "<script>alert(1)</script> 0 → <s> 1" in explorer.hover("known", 0, 1)
    assert "שלום 2" in explorer.hover("known", 2, 0)
    assert "the 3 → the 4: weight 0.629" in explorer.hover("known", 3, 4)
    assert "the 4 → the 3: weight 0.771" in explorer.hover("known", 4, 3)
    assert page.evaluate(scripts) == before
    made = explorer.ask(
        "[...explorer.root.querySelectorAll('script, s, iframe, img, object, style')].length"
    )
    assert made == 0
    labels = explorer.ask("explorer.views.get('known').scene.plan.rowTicks.map(t => t.text)")
    assert labels[3:5] == ["the", "the"]


def test_a_long_axis_is_thinned_and_reads_exactly(opened: Callable[[str], Explorer]) -> None:
    explorer = opened("long")
    drawn = explorer.ask(
        "(({plan}) => [plan.rowTicks.length, plan.colTicks.length])"
        "(explorer.views.get('head').scene)"
    )
    assert max(drawn) <= 100
    values = explorer_app.long().panels[0].values
    for row, col in ((511, 510), (300, 7), (128, 128)):
        said = explorer.hover("head", row, col)
        assert f" {row} → " in said
        assert f" {col}: weight {significant(values[row, col])}," in said
    # The grid and the map anew, the quickest of five: the machine may be busy.
    times = explorer.ask(
        """[1, 2, 3, 4, 5].map(() => {
          explorer.grid.drawn = explorer.grid.sheetKey = explorer.views.get('head').drawn = '';
          const start = performance.now();
          explorer.layOut();
          explorer.markAll();
          return performance.now() - start;
        })"""
    )
    assert min(times) < 200, times


def significant(value: float) -> str:
    """Three significant digits, as the explorer writes them."""
    if value == 0:
        return "0"
    if abs(value) < 1e-4:
        mantissa, exponent = f"{value:.2e}".split("e")
        return f"{mantissa}e{int(exponent)}".replace("-", "−")
    return f"{value:#.3g}"


def test_linked_panels_show_the_same_place(opened: Callable[[str], Explorer]) -> None:
    explorer = opened("walk")
    panels = {panel.id: panel for panel in explorer_app.walk().panels}
    explorer.hover("scores", 4, 2)
    for name in ("scores", "scaled", "masked"):
        value = f"{abs(panels[name].values[4, 2]):#.3g}"
        assert "the 4 → sat 2: score" in explorer.readout(name)
        assert value in explorer.readout(name)
    assert explorer.readout("query") == "query 4 the"
    assert explorer.readout("value") == "key 2 sat"


def test_a_click_reaches_python_and_escape_takes_it_back(
    opened: Callable[[str], Explorer], page: Page
) -> None:
    explorer = opened("head")
    page.mouse.click(*explorer.cell("weights", 5, 2))
    page.get_by_text("panel='weights', row=5, col=2").wait_for()
    page.mouse.move(5, 5)
    assert explorer.readout("weights").startswith("mat 5 → sat 2: weight")
    page.get_by_role("grid").focus()
    page.keyboard.press("Escape")
    page.get_by_text("panel=None, row=None, col=None").wait_for()


def test_the_keyboard_reads_and_pins(opened: Callable[[str], Explorer], page: Page) -> None:
    explorer = opened("head")
    page.keyboard.press("Tab")
    page.get_by_role("grid").focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowDown", "ArrowRight"):
        page.keyboard.press(key)
    assert explorer.readout("weights").startswith("on 3 → cat 1: weight")
    active = page.get_by_role("gridcell")
    assert active.inner_text().startswith("on 3 → cat 1: weight")
    assert active.get_attribute("aria-colindex") == "2"
    assert page.get_by_role("grid").get_attribute("aria-activedescendant") == (
        active.get_attribute("id")
    )
    # Each move has another active cell, which is read out; the live region keeps silent.
    before = active.get_attribute("id")
    page.keyboard.press("ArrowLeft")
    assert active.get_attribute("id") != before
    voice = page.locator(".explorer > [role=status]")
    assert voice.inner_text() == ""
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.get_by_text("panel='weights', row=3, col=1").wait_for()
    page.wait_for_function(f"() => ({FIND})().__explorer.voice.root.textContent !== ''")
    assert voice.inner_text().startswith("Kept: on 3 → cat 1: weight")
    assert page.get_by_role("gridcell").get_attribute("aria-selected") == "true"


def test_python_sets_the_selection(opened: Callable[[str], Explorer], page: Page) -> None:
    explorer = opened("pushed")
    assert explorer.readout("weights").startswith("the 0 → the 0")
    page.mouse.click(*explorer.cell("weights", 7, 6))
    page.get_by_text("row=7, col=6").wait_for()
    page.get_by_text("Run again").click()
    wait_idle(page)
    page.get_by_text("row=7, col=6").wait_for()
    page.get_by_text("3", exact=True).click()
    page.get_by_text("row=3, col=0").wait_for()
    page.mouse.move(5, 5)
    assert explorer.readout("weights").startswith("on 3 → the 0")


def test_heads_of_a_stack_switch_in_the_browser(
    opened: Callable[[str], Explorer], page: Page
) -> None:
    explorer = opened("model")
    wait_idle(page)
    node = explorer.ask("(explorer.marked = 1, explorer.generation)")
    box = explorer.ask("explorer.grid.cellBox(17, 4)")
    page.mouse.click(box["x"] + 5, box["y"] + 5)
    explorer.settled()
    assert page.locator("h2.title").inner_text() == "Layer 17, head 4"
    shown = explorer.ask("Array.from(explorer.views.get('head').scene.panel.values.slice(-64))")
    grid = explorer_app.model().grid
    assert grid is not None
    assert grid.stack is not None
    assert np.array_equal(np.array(shown, np.float32), grid.stack[17, 4, -1])
    page.get_by_text("layer=17, head=4").wait_for()
    wait_idle(page)
    # The same instance still, and the figure was not sent again.
    assert explorer.ask("explorer.marked") == 1
    assert explorer.ask("explorer.generation") < node + 10


def test_without_a_stack_the_server_sends_the_head(
    opened: Callable[[str], Explorer], page: Page
) -> None:
    explorer = opened("server")
    for layer, head in ((12, 7), (29, 0)):
        box = explorer.ask(f"explorer.grid.cellBox({layer}, {head})")
        page.mouse.click(box["x"] + 5, box["y"] + 5)
        page.get_by_text(f"layer={layer}, head={head}").wait_for()
        wait_idle(page)
        assert page.locator("h2.title").inner_text() == f"Layer {layer}, head {head}"


def test_hiding_states_what_it_does(opened: Callable[[str], Explorer], page: Page) -> None:
    explorer = opened("model")
    explorer.press("Hide first token")
    assert explorer.ask("Array.from(explorer.views.get('head').scene.shown.cols.slice(0, 2))") == [
        1,
        2,
    ]
    assert "colours rescaled, weights unchanged" in page.locator(".toolbar .note").inner_text()
    figure = explorer_app.model()
    assert f"weight {significant(figure.panels[0].values[9, 4])}," in explorer.hover("head", 9, 4)
    explorer.press("Hide special tokens")
    assert explorer.ask("explorer.views.get('head').scene.shown.rows[0]") == 1


def test_weight_on_the_first_token_is_explained_where_it_is_seen(
    opened: Callable[[str], Explorer], page: Page
) -> None:
    """0.65 of every row on token 0 looks like a fault; hidden, the rest has a scale of its own."""
    explorer = opened("sink")
    said = page.locator(".first-token")
    assert said.inner_text().startswith("65 % of an average query's weight is on the first token.")
    assert "an attention sink" in said.inner_text()
    scale = "explorer.views.get('weights').scene.scale.hi"
    assert explorer.ask(scale) == 1
    explorer.press("Hide first token")
    assert "It is hidden now" in said.inner_text()
    assert explorer.ask(scale) == pytest.approx(0.35)  # the largest that is left
    values = explorer_app.sink().panels[0].values
    assert f"weight {significant(values[5, 3])}," in explorer.hover("weights", 5, 3)
    explorer.ask("explorer.select({layer: 0, head: 1})")
    explorer.settled()
    assert said.is_hidden()


def test_a_metric_colours_the_grid(opened: Callable[[str], Explorer], page: Page) -> None:
    explorer = opened("model")
    page.get_by_label("Colour thumbnails by").select_option("first-token mass")
    explorer.settled()
    box = explorer.ask("explorer.grid.cellBox(3, 2)")
    page.mouse.move(box["x"] + 5, box["y"] + 5)
    grid = explorer_app.model().grid
    assert grid is not None
    mass = significant(grid.metrics["first-token mass"][3, 2])
    assert f"Layer 3, head 2, first-token mass {mass}" in page.locator(".grid-view").inner_text()


def saved(page: Page, panel: str, kind: str) -> tuple[str, bytes]:
    section = page.locator(f"[data-panel='{panel}']")
    section.locator(".menu summary").click()
    with page.expect_download() as download:
        section.locator(f"[data-export='{kind}']").click()
    path = download.value.path()
    return download.value.suggested_filename, Path(path).read_bytes()


def test_files_hold_the_figure(opened: Callable[[str], Explorer], page: Page) -> None:
    opened("known")
    name, data = saved(page, "known", "csv")
    assert name == "known-known.csv"
    rows = list(csv.reader(io.StringIO(data.decode("utf-8-sig"), newline="")))
    assert rows[0][:4] == ["query position", "query", "0 <script>alert(1)</script>", "1 <s>"]
    assert rows[6][1] == '\'="x",1'
    values = explorer_app.chequered().panels[0].values
    got = np.array([[float(x) for x in row[2:]] for row in rows[1:]], np.float32)
    assert np.array_equal(got, values, equal_nan=True)

    name, data = saved(page, "known", "svg")
    assert name == "known-known.svg"
    assert b"&#60;script&#62;" in data
    assert b"<image" not in data
    assert data.count(b"<rect") > 36

    name, data = saved(page, "signed", "png")
    assert name == "known-signed.png"
    assert data.startswith(b"\x89PNG")
    width = int.from_bytes(data[16:20])
    assert width >= 640


def test_npz_holds_what_is_in_sight(opened: Callable[[str], Explorer], page: Page) -> None:
    explorer = opened("known")
    explorer.press("Hide special tokens")
    name, data = saved(page, "known", "npz-sight")
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
    assert box.input_value() == page.url
    assert box.evaluate("box => box.selectionEnd - box.selectionStart") == len(page.url)
    assert page.locator("[data-export='python']").count() == 0  # this figure has no Python
    box.press("Escape")
    assert not page.locator(".menu[open]").count()


def test_the_app_makes_a_file_that_works_without_it(
    opened: Callable[[str], Explorer], page: Page, browser: Browser, tmp_path: Path
) -> None:
    explorer = opened("model")
    explorer.ask("explorer.select({layer: 4, head: 7})")
    explorer.settled()
    name, data = saved(page, "head", "html")
    assert name == "model-layer4-head7.html"
    path = tmp_path / name
    path.write_bytes(data)
    # The page goes on as before, and a second file is made anew.
    assert explorer.ask("[explorer.selection.layer, explorer.selection.head]") == [4, 7]
    assert saved(page, "head", "html")[1] == data
    context = browser.new_context(viewport={"width": 1440, "height": 900}, offline=True)
    alone = context.new_page()
    alone.goto(path.as_uri())
    alone.get_by_text("Layer 4, head 7", exact=True).first.wait_for()
    context.close()


def test_a_finger_keeps_a_cell(browser: Browser, address: str) -> None:
    context = browser.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, device_scale_factor=3
    )
    page = context.new_page()
    page.goto(f"{address}/?case=head")
    page.locator(".explorer[data-generation]").wait_for()
    wait_idle(page)
    explorer = Explorer(page)
    page.touchscreen.tap(*explorer.cell("weights", 9, 8))
    page.get_by_text("row=9, col=8").wait_for()
    assert explorer.readout("weights").startswith("warm 9 → was 8: weight")
    context.close()


def test_a_height_makes_it_scroll_in_its_own_box(
    opened: Callable[[str], Explorer], page: Page
) -> None:
    explorer = opened("boxed")
    assert explorer.ask("explorer.root.scrollHeight") > 400
    box = page.get_by_text("Run again").bounding_box()
    assert box is not None
    assert box["y"] < 600


def test_nothing_is_wider_than_a_phone(opened: Callable[[str], Explorer], page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    for case in ("head", "walk", "model", "known"):
        explorer = opened(case)
        widths = explorer.ask(
            "[explorer.root.clientWidth, explorer.root.scrollWidth, "
            "...[...explorer.views.values()].map(v => v.scene.plan.width)]"
        )
        assert max(widths) <= 390, (case, widths)
        small = explorer.ask(
            "[...explorer.root.querySelectorAll('button, select, summary')]"
            ".filter(e => e.offsetParent && e.getBoundingClientRect().height < 24).length"
        )
        assert small == 0

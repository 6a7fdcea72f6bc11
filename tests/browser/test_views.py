"""The explorer's views beside the matrix: one selection, one look, nothing asked of the server."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, WebSocket

from attnviz.figures import palette
from tests.browser import explorer_app
from tests.browser.chromium import wait_idle
from tests.browser.explorer_page import Explorer, colour, significant

pytestmark = pytest.mark.browser

Open = Callable[[str], Explorer]
OPTION = "[role=option]"


def shown(explorer: Explorer, view: str) -> None:
    """Switch to a view and wait until it is on the page."""
    explorer.press(view)
    if view in ("Lines", "Text"):
        explorer.page.locator(f".panel.{view.lower()}").wait_for()
    explorer.settled()


def weights(layer: int, head: int) -> np.ndarray:
    grid = explorer_app.model().grid
    assert grid is not None
    assert grid.stack is not None
    return grid.stack[layer, head]


def frames_sent(page: Page) -> list[str | bytes]:
    sent: list[str | bytes] = []

    def listen(socket: WebSocket) -> None:
        socket.on("framesent", lambda frame: sent.append(frame))

    page.on("websocket", listen)
    return sent


def test_all_views_show_one_selection(opened: Open, page: Page) -> None:
    explorer = opened("model")
    shown(explorer, "Lines")
    page.locator(f".side.row {OPTION}").nth(9).click()
    best = int(weights(0, 0)[9].argmax())
    page.get_by_text(f"panel='head', row=9, col={best}").wait_for()
    said = f"weight {significant(weights(0, 0)[9, best])}, rank 1 of 10 in row"
    assert said in page.locator(".lines .readout").inner_text()

    shown(explorer, "Text")
    assert page.locator(f".running {OPTION}[aria-selected=true]").get_attribute("data-at") == "9"
    page.locator(f".running {OPTION}").nth(12).click()
    explorer.press("Row")
    page.locator(".ranked .bar").first.wait_for()
    assert "warm" not in page.locator(".ranked .subtitle").inner_text()
    assert "the 12" in page.locator(".ranked .subtitle").inner_text()
    order = np.argsort(-weights(0, 0)[12], kind="stable")
    page.locator(".ranked .bar").nth(2).click()
    page.get_by_text(f"row=12, col={order[2]},").wait_for()

    shown(explorer, "Matrix")
    page.mouse.move(5, 5)
    explorer.settled()
    assert f"rank 3 of {13}" in explorer.readout("head")
    box = explorer.ask("explorer.grid.cellBox(4, 5)")
    page.mouse.click(box["x"] + 5, box["y"] + 5)
    shown(explorer, "Text")
    assert page.locator(".text .title").inner_text() == "Layer 4, head 5"


def test_the_row_says_all_of_its_weight(opened: Open, page: Page) -> None:
    explorer = opened("model")
    explorer.press("Row")
    explorer.hover("head", 60, 3)
    page.locator(".ranked .bar").first.wait_for()
    explorer.settled()
    row = np.sort(weights(0, 0)[60])[::-1]
    said = page.locator(".ranked .value").all_inner_texts()
    assert said == [significant(value) for value in row[:12]]
    assert f"and 49 more: {significant(100 * row[12:].sum())} %" in (
        page.locator(".ranked .note").inner_text()
    )


def test_text_is_shaded_by_what_is_read_or_who_reads(opened: Open, page: Page) -> None:
    explorer = opened("hostile")
    shown(explorer, "Text")
    values = explorer_app.hostile().panels[0].values
    tokens = page.locator(f".running {OPTION}")
    tokens.nth(6).click()
    page.mouse.move(5, 5)
    explorer.settled()
    # Of the strongest key the shade is the palette's own.
    best = int(values[6].argmax())
    r, g, b = colour(float(values[6, best]), palette.sequential())
    assert tokens.nth(best).evaluate("e => e.style.background") == f"rgb({r}, {g}, {b})"
    assert "masked" in (tokens.nth(7).get_attribute("class") or "")
    tokens.nth(3).hover()
    assert f"weight {significant(values[6, 3])}," in page.locator(".text .readout").inner_text()
    explorer.press("is read by")
    page.mouse.move(5, 5)
    explorer.settled()
    assert page.locator(".text .subtitle").inner_text().startswith("who reads")
    masked = [i for i in range(12) if "masked" in (tokens.nth(i).get_attribute("class") or "")]
    assert masked == list(range(best))


def test_hostile_tokens_are_themselves_and_make_nothing(opened: Open, page: Page) -> None:
    explorer = opened("hostile")
    shown(explorer, "Text")
    written = page.locator(f".running {OPTION}").all_inner_texts()
    assert written[0] == "<img src=x onerror=planted()>"
    assert written[1:4] == ["שלום", "عليكم", "e\u0301\u0301\u0301"]
    assert written[4] == "x" * 200
    assert written[7] == "‹202E›desrever"
    shown(explorer, "Lines")
    explorer.press("Row")
    for side in ("row", "col"):
        labels = page.locator(f".side.{side} .token").all_inner_texts()
        assert labels == [label.replace("\u202e", "‹202E›") for label in explorer_app.HOSTILE]
    shown(explorer, "Compare")
    made = explorer.ask(
        "[...explorer.root.querySelectorAll('img, b, script, iframe, style, svg, a')].length"
    )
    assert made == 0
    assert explorer.ask("explorer.root.scrollWidth - explorer.root.clientWidth") <= 0


def test_the_threshold_acts_while_it_is_dragged_and_sends_nothing(opened: Open, page: Page) -> None:
    sent = frames_sent(page)
    explorer = opened("model")
    row, col = 9, int(np.argsort(weights(0, 0)[9])[-2])
    weight = float(weights(0, 0)[9, col])
    assert explorer.pixel("head", row, col) == colour(weight, palette.sequential())
    slider = page.get_by_role("slider", name="Hide below")
    box = slider.bounding_box()
    assert box is not None
    page.wait_for_timeout(300)
    before = len(sent)
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 8, y)
    page.mouse.down()
    drawn = explorer.ask("explorer.generation")
    for share in (0.2, 0.4, 0.6, 0.8):
        page.mouse.move(box["x"] + share * box["width"], y)
        page.wait_for_timeout(80)
    least = explorer.ask("explorer.options.least")
    assert least > weight
    assert explorer.pixel("head", row, col) == colour(0, palette.sequential())
    assert explorer.ask("explorer.generation") >= drawn + 3
    page.wait_for_timeout(300)
    assert len(sent) == before  # not even while it rests
    page.mouse.up()
    page.get_by_text(f"least={least}").wait_for()
    assert len(sent) > before
    assert f"Weights below {least:g} drawn as none." in page.locator(".toolbar .note").inner_text()
    # The number is still the number.
    assert f"weight {significant(weight)}," in explorer.hover("head", row, col)


def test_another_look_does_not_send_the_figure_again(opened: Open, page: Page) -> None:
    received: list[int] = []
    page.on(
        "websocket",
        lambda socket: socket.on("framereceived", lambda frame: received.append(len(frame))),
    )
    explorer = opened("model")
    assert max(received) > 1_000_000
    received.clear()
    shown(explorer, "Lines")
    page.get_by_text("show='lines'").wait_for()
    wait_idle(page)
    assert sum(received) < 100_000


def test_a_palette_can_be_chosen(opened: Open, page: Page) -> None:
    explorer = opened("known")
    page.locator(".more summary").click()
    page.get_by_label("Palette").select_option("cividis")
    explorer.settled()
    values = explorer_app.chequered().panels[0].values
    cividis = palette.sequential(name="cividis")
    assert explorer.pixel("known", 2, 3) == colour(float(values[2, 3]), cividis)
    page.get_by_text("palette='cividis'").wait_for()
    page.mouse.click(5, 400)
    assert page.locator(".more").get_attribute("open") is None


def test_heads_are_compared_on_one_scale_and_less_each_other(opened: Open, page: Page) -> None:
    explorer = opened("model")
    explorer.press("Hide first token")
    page.keyboard.press("Escape")
    shown(explorer, "Compare")
    box = explorer.ask("explorer.grid.cellBox(12, 7)")
    page.keyboard.down("Shift")
    page.mouse.click(box["x"] + 5, box["y"] + 5)
    page.keyboard.up("Shift")
    explorer.settled()
    titles = page.locator(".panel .title").all_inner_texts()
    assert titles == ["Layer 0, head 0", "Layer 12, head 7", "Difference"]
    ends = explorer.ask("[...explorer.views.values()].map(v => v.scene.scale.hi)")
    assert ends[0] == ends[1]
    assert ends[0] == pytest.approx(max(weights(0, 0)[:, 1:].max(), weights(12, 7)[:, 1:].max()))
    explorer.hover("head", 40, 31)
    one, other = weights(0, 0)[40, 31], weights(12, 7)[40, 31]
    assert f"weight {significant(one)}," in explorer.readout("head")
    assert f"weight {significant(other)}," in explorer.readout("head~other")
    gap = significant(abs(one - other))
    assert f"difference {'−' if one < other else ''}{gap}" in explorer.readout("head~difference")
    page.mouse.click(*explorer.cell("head~other", 40, 31))
    page.get_by_text("panel='head', row=40, col=31").wait_for()

    # What one shows the others show.
    windows = "[...explorer.views.values()].map(v => Object.values(v.viewport.window).join(' '))"
    page.locator("[data-panel='head~other']").get_by_role("button", name="Zoom in (+)").click()
    page.locator("[data-panel='head~other']").get_by_role("button", name="Zoom in (+)").click()
    page.locator("[data-panel='head']").get_by_role("button", name=re.compile("Move down")).click()
    explorer.settled()
    first, *others = explorer.ask(windows)
    assert first.startswith("2.56 ")
    assert others == [first, first]
    ticks = "[...explorer.views.values()].map(v => v.scene.plan.rowTicks.map(t => t.at).join())"
    assert len(set(explorer.ask(ticks))) == 1
    page.locator("[data-panel='head~difference']").get_by_role("button", name="Fit").click()
    explorer.settled()
    assert explorer.ask(windows) == ["1 0 0"] * 3


def test_several_heads_as_lines_have_chips_and_colours_of_their_own(
    opened: Open, page: Page
) -> None:
    explorer = opened("model")
    shown(explorer, "Lines")
    page.get_by_label("Add a head").select_option("3.4")
    page.get_by_label("Add a head").select_option("5.1")
    chips = page.locator(".chip")
    chips.nth(2).wait_for()
    assert chips.all_inner_texts()[1].startswith("Layer 3, head 4")
    dots = page.locator(".chip .dot").evaluate_all("all => all.map(e => e.style.background)")
    assert len(set(dots)) == 3
    page.get_by_role("button", name="Remove Layer 3, head 4").click()
    explorer.settled()
    left = page.locator(".chip .dot").evaluate_all("all => all.map(e => e.style.background)")
    assert left == [dots[0], dots[2]]
    page.get_by_text("others=('5.1',)").wait_for()


def test_the_keyboard_reads_text_and_lines(opened: Open, page: Page) -> None:
    explorer = opened("model")
    shown(explorer, "Text")
    page.locator(".running").focus()
    page.keyboard.press("Home")
    for key in ("ArrowRight", "ArrowRight", "ArrowRight"):
        page.keyboard.press(key)
    assert "on 3 reads" in page.locator(".text .subtitle").inner_text()
    page.keyboard.press("Enter")
    page.get_by_text("row=3,").wait_for()
    page.keyboard.press("Escape")
    page.get_by_text("row=None,").wait_for()
    shown(explorer, "Lines")
    page.locator(".side.row").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    assert page.locator(".lines .readout").inner_text() == "key 1 cat"


def test_512_tokens_scroll_in_their_own_box_and_draw_what_is_in_sight(
    opened: Open, page: Page
) -> None:
    explorer = opened("long")
    shown(explorer, "Lines")
    box = page.locator(".lines .scroll")
    assert box.evaluate("e => e.scrollHeight") >= 512 * 24
    assert box.evaluate("e => e.clientHeight") < 900
    ink = """e => { const {width, height} = e; const d = e.getContext('2d')
        .getImageData(0, 0, width, height).data; let n = 0;
        for (let i = 3; i < d.length; i += 4) n += d[i] > 0; return n; }"""
    canvas = page.locator(".lines canvas")
    assert canvas.evaluate(ink) > 1000
    box.evaluate("e => { e.scrollTop = 5000; }")
    explorer.settled()
    assert canvas.evaluate(ink) > 1000
    size = page.locator(f".side.row {OPTION}").first.evaluate(
        "e => parseFloat(getComputedStyle(e).fontSize)"
    )
    assert size >= 12


def test_a_link_reproduces_the_picture(visit: Callable[..., Page], browser: Browser) -> None:
    page = visit("/")
    explorer = Explorer(page)
    loaded = "() => performance.getEntriesByType('resource').map(e => e.name).join(' ')"
    assert not re.search(r"(lines|text|row|beside)view\.js|compare\.js", page.evaluate(loaded))
    shown(explorer, "Lines")
    page.get_by_label("Add a head").select_option("3.4")
    page.get_by_role("slider", name="Hide below").first.focus()
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    explorer.press("by row")
    explorer.press("Row")
    page.locator(f".side.row {OPTION}").nth(7).click()
    words = ["row=7", "show=lines", "min=0.02", "colours=row", "bars=1", "with=3.4"]
    page.wait_for_function("all => all.every(word => location.search.includes(word))", arg=words)
    wait_idle(page)
    picture = "e => e.toDataURL()"
    page.mouse.move(5, 5)
    explorer.settled()
    seen = page.locator(".lines canvas").evaluate(picture)

    context = browser.new_context(viewport={"width": 1440, "height": 900})
    other = context.new_page()
    other.goto(page.url)
    other.locator(".panel.lines").wait_for(timeout=30_000)
    wait_idle(other)
    second = Explorer(other)
    second.settled()
    assert second.ask("explorer.options") == explorer.ask("explorer.options")
    assert second.ask("explorer.selection") == explorer.ask("explorer.selection")
    assert other.locator(".lines canvas").evaluate(picture) == seen
    context.close()


def test_a_hostile_link_shows_the_usual_picture(visit: Callable[..., Page]) -> None:
    page = visit(
        "/?show=%3Cscript%3E&colours=x&min=1e999&with=99.99,..%2F..&palette=x&read=7&hide=q"
    )
    explorer = Explorer(page)
    fresh = explorer.ask("JSON.stringify(explorer.options)")
    page = visit("/")
    assert Explorer(page).ask("JSON.stringify(explorer.options)") == fresh
    page.wait_for_timeout(200)
    assert "?" not in page.url


@pytest.mark.parametrize("view", ["Lines", "Text", "Compare"])
def test_every_view_fits_a_phone(opened: Open, page: Page, view: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    for case in ("model", "hostile"):
        explorer = opened(case)
        shown(explorer, view)
        explorer.press("Row")
        explorer.settled()
        widths = explorer.ask("[explorer.root.clientWidth, explorer.root.scrollWidth]")
        assert max(widths) <= 390, (case, widths)
        page.locator(".more summary").click()
        small = explorer.ask(
            "[...explorer.root.querySelectorAll('button, select, summary, input')]"
            ".filter(e => e.offsetParent && e.getBoundingClientRect().height < 24)"
            ".map(e => e.outerHTML)"
        )
        assert small == []
        right = page.locator(".more .items").evaluate("e => e.getBoundingClientRect().right")
        assert right <= 390

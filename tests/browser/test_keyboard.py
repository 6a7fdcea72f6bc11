"""Everything the explorer does, by the keyboard alone; and what it tells those who hear it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.chromium import until
from tests.browser.explorer_page import FIND, Explorer
from tests.browser.waiting import rest, when

pytestmark = pytest.mark.browser

Open = Callable[[str], Explorer]

FOCUSED = """() => {
  let at = document.activeElement;
  while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
  const name = at.getAttribute('aria-label') ?? at.closest('label')?.textContent ?? at.textContent;
  const said = name.trim().replace(/\\s+/g, ' ');
  return `${at.tagName} ${at.getAttribute('role') ?? ''} ${said}|`;
}"""


def tab(page: Page, to: str, back: bool = False) -> str:
    """Press Tab until what has the focus says these words."""
    seen: list[str] = []
    for _ in range(60):
        page.keyboard.press("Shift+Tab" if back else "Tab")
        seen.append(page.evaluate(FOCUSED))
        if to in seen[-1]:
            ring = page.evaluate(
                """() => { let at = document.activeElement;
                while (at.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
                const { outlineStyle, boxShadow } = getComputedStyle(at);
                return [outlineStyle, boxShadow]; }"""
            )
            assert set(ring) != {"none"}, f"the focus on {to} cannot be seen"
            return seen[-1]
    raise AssertionError(f"{to!r} is not reached by Tab: {seen}")


def focus_comes_to(page: Page, named: str) -> None:
    when(page, lambda: page.evaluate(FOCUSED), lambda now: named in now)


def test_the_keyboard_alone_does_everything(opened: Open, page: Page) -> None:
    explorer = opened("model")
    press = page.keyboard.press

    tab(page, "BUTTON  by row")
    press("Enter")
    tab(page, "Hide below")
    for _ in range(4):
        press("ArrowRight")
    explorer.until("explorer.options.least", 0.01)
    explorer.until("explorer.options.scale", "row")
    tab(page, "SUMMARY  More")
    press("Enter")
    tab(page, "Palette")
    press("ArrowDown")
    explorer.until("explorer.options.palette", "cividis")
    press("Escape")
    focus_comes_to(page, "More")

    tab(page, "Colour thumbnails by")
    press("ArrowDown")
    explorer.until("explorer.options.metric", "entropy (nats)")
    # Another layer and head.
    tab(page, "All heads")
    for key in ("ArrowDown", "ArrowDown", "ArrowRight"):
        press(key)
    press("Enter")
    expect(page.locator(".panel .title")).to_have_text("Layer 2, head 1")

    # Keep a cell, zoom, move, and back to the whole.
    tab(page, "grid Layer 2, head 1")
    for key in ("ArrowDown", "ArrowDown", "ArrowDown", "ArrowRight"):
        press(key)
    press(" ")
    page.get_by_text("panel='head', row=3, col=1").wait_for()
    press("+")
    press("+")
    window = partial(explorer.window, "head")
    zoomed = when(page, window, lambda now: now[0] > 2)
    press("Shift+ArrowDown")
    when(page, window, lambda now: now[1] > zoomed[1])
    # The same by buttons.
    tab(page, "Move right")
    press("Enter")
    when(page, window, lambda now: now[2] > zoomed[2])
    tab(page, "Zoom in")
    press("Enter")
    when(page, window, lambda now: now[0] > zoomed[0])
    tab(page, "Fit")
    press("Enter")
    until(page, lambda: window()[0], 1)

    # What the picture can be saved as.
    tab(page, "SUMMARY", back=True)
    press("Enter")
    expect(page.locator(".panel .menu[open]")).to_have_count(1)
    tab(page, "PNG")
    press("Escape")
    expect(page.locator(".panel .menu[open]")).to_have_count(0)

    # The other views.
    tab(page, "BUTTON  Compare", back=True)
    press("Enter")
    page.locator(".compared .panel").nth(2).wait_for()
    page.get_by_label("Compare with").wait_for()
    tab(page, "SELECT  Compare with")
    press("ArrowDown")
    until(page, lambda: len(explorer.ask("explorer.options.others")), 1)
    tab(page, "All heads", back=True)
    press("ArrowDown")
    press("Shift+Enter")
    when(page, lambda: explorer.ask("explorer.options.others"), lambda keys: "3.1" in keys)
    tab(page, "BUTTON  Text", back=True)
    press("Enter")
    page.locator(".panel.text").wait_for()
    tab(page, "is read by")
    press("Enter")
    tab(page, "listbox")
    press("Home")
    press("Enter")
    page.get_by_text("row=0, col=0").wait_for()
    tab(page, "BUTTON  Lines", back=True)
    press("Enter")
    page.locator(".panel.lines").wait_for()
    tab(page, "BUTTON  Rows")
    press("Enter")
    explorer.until("explorer.options.lines", "rows")
    tab(page, "listbox query")
    press("End")
    press("ArrowDown")
    focus_comes_to(page, "key")
    for word, option in (("Row", "row"), ("Table", "table")):
        tab(page, f"BUTTON  {word}|", back=True)
        press("Enter")
        explorer.until(f"explorer.options.{option}", True)
    # And out again at the end: no trap.
    tab(page, "Run again")


@pytest.mark.new_tab  # the browser keeps a tree of the page from then on
def test_one_tab_stop_for_each_thing_and_a_name_for_each(opened: Open, page: Page) -> None:
    """By the accessibility tree, as a screen reader has it."""
    explorer = opened("model")
    page.get_by_role("grid", name="Layer 0, head 0").focus()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("gridcell").last).to_contain_text("cat 1 → the 0: weight")
    session = page.context.new_cdp_session(page)
    nodes = session.send("Accessibility.getFullAXTree")["nodes"]
    told: dict[str, list[dict[str, Any]]] = {}
    for node in nodes:
        if not node.get("ignored"):
            told.setdefault(node["role"]["value"], []).append(node)
    names = {role: [node["name"]["value"] for node in found] for role, found in told.items()}
    assert "All heads of a model." in names["figure"]
    assert names["grid"] == [
        "All heads: layers down, heads across",
        "Layer 0, head 0, 64 rows by 64 columns",
    ]
    assert len(names["gridcell"]) == 2
    assert names["gridcell"][1].startswith("cat 1 → the 0: weight")
    for role in ("button", "combobox", "slider", "listbox"):
        assert all(names.get(role, [])), (role, names.get(role))
    assert "Hide below" in names["slider"][0]
    pressed = {
        node["name"]["value"]: next(
            (p["value"]["value"] for p in node["properties"] if p["name"] == "pressed"), None
        )
        for node in told["button"]
    }
    assert pressed["Matrix"] == "true"
    assert pressed["Lines"] == "false"
    grid = page.get_by_role("grid", name="Layer 0, head 0")
    assert grid.get_attribute("aria-rowcount") == "64"
    assert grid.locator("[role=row]").get_attribute("aria-rowindex") == "2"
    # The table's other pictures are for the eye.
    assert explorer.ask(
        "[...explorer.root.querySelectorAll('canvas')].every(c => c.textContent === '')"
    )


def test_hovering_and_dragging_say_nothing_aloud(opened: Open, page: Page) -> None:
    explorer = opened("model")
    page.evaluate(
        f"""() => {{
          const root = ({FIND})();
          root.said = [];
          new MutationObserver(() => root.said.push(root.__explorer.voice.root.textContent))
            .observe(root.__explorer.voice.root, {{ childList: true }});
        }}"""
    )
    for row in range(10, 40):
        explorer.hover("head", row, row - 5)
    rest(page, 400)
    assert explorer.ask("explorer.root.said") == []
    live = explorer.ask(
        "[...explorer.root.querySelectorAll('[aria-live], [role=status], [role=alert], output')]"
        ".filter(e => e.checkVisibility()).map(e => e.className + e.tagName)"
    )
    # noteP counts the heads that a threshold leaves.
    assert set(live) <= {"unseenDIV", "noteSPAN", "noteP", "amountOUTPUT"}
    # Many zooms in a row are told once, when they rest.
    page.get_by_role("grid", name="Layer 0, head 0").evaluate(
        """grid => { for (let i = 0; i < 5; i += 1)
          grid.dispatchEvent(new KeyboardEvent("keydown", { key: "+", bubbles: true })); }"""
    )
    when(page, lambda: explorer.ask("explorer.root.said"), len)
    rest(page, 330)
    said = explorer.ask("explorer.root.said")
    assert len(said) == 1
    assert "rows" in said[0]
    page.mouse.click(*explorer.cell("head", 1, 0))
    when(
        page,
        lambda: explorer.ask("explorer.root.said.at(-1)"),
        lambda now: now.startswith("Kept: cat 1 → the 0: weight"),
    )


def test_what_is_lost_with_a_button_hands_its_focus_on(opened: Open, page: Page) -> None:
    explorer = opened("model")
    explorer.press("Lines")
    page.get_by_label("Add a head").select_option("3.4")
    page.get_by_role("button", name="Remove Layer 3, head 4").focus()
    explorer.ask("explorer.drawNow()")
    assert "Remove Layer 3, head 4" in page.evaluate(FOCUSED)  # a drawing does not take it
    page.keyboard.press("Enter")
    focus_comes_to(page, "Add a head")

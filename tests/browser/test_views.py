"""The explorer's views beside the matrix: one selection in all of them."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from attnviz.figures import palette
from tests.browser import explorer_app
from tests.browser.chromium import until
from tests.browser.explorer_page import Explorer, colour, significant
from tests.browser.waiting import when

pytestmark = pytest.mark.browser

Open = Callable[[str], Explorer]
OPTION = "[role=option]"
PICTURE = "e => e.toDataURL()"


def test_all_views_show_one_selection(opened: Open, page: Page) -> None:
    explorer = opened("model")
    explorer.press("Lines")
    page.locator(f".side.row {OPTION}").nth(9).click()
    best = int(explorer_app.weights(0, 0)[9].argmax())
    page.get_by_text(f"panel='head', row=9, col={best}").wait_for()
    said = f"weight {significant(explorer_app.weights(0, 0)[9, best])}, rank 1 of 10 in row"
    expect(page.locator(".lines .readout")).to_contain_text(said)

    explorer.press("Text")
    kept = page.locator(f".running {OPTION}[aria-selected=true]")
    expect(kept).to_have_attribute("data-at", "9")
    page.locator(f".running {OPTION}").nth(12).click()
    explorer.press("Row")
    page.locator(".ranked .bar").first.wait_for()
    expect(page.locator(".ranked .subtitle")).to_contain_text("the 12")
    expect(page.locator(".ranked .subtitle")).not_to_contain_text("warm")
    order = np.argsort(-explorer_app.weights(0, 0)[12], kind="stable")
    page.locator(".ranked .bar").nth(2).click()
    page.get_by_text(f"row=12, col={order[2]},").wait_for()

    explorer.press("Matrix")
    page.mouse.move(5, 5)
    when(page, lambda: explorer.readout("head"), lambda said: f"rank 3 of {13}" in said)
    explorer.click_head(4, 5)
    explorer.press("Text")
    expect(page.locator(".text .title")).to_have_text("Layer 4, head 5")


def test_the_row_says_all_of_its_weight(opened: Open, page: Page) -> None:
    explorer = opened("model")
    explorer.press("Row")
    explorer.hover("head", 60, 3)
    row = np.sort(explorer_app.weights(0, 0)[60])[::-1]
    values = [significant(value) for value in row[:12]]
    expect(page.locator(".ranked .value")).to_have_text(values)
    more = f"and 49 more: {significant(100 * row[12:].sum())} %"
    expect(page.locator(".ranked .note")).to_contain_text(more)


def test_text_is_shaded_by_what_is_read_or_who_reads(opened: Open, page: Page) -> None:
    explorer = opened("hostile")
    explorer.press("Text")
    values = explorer_app.hostile().panels[0].values
    tokens = page.locator(f".running {OPTION}")
    tokens.nth(6).click()
    page.mouse.move(5, 5)
    # Of the strongest key the shade is the palette's own.
    best = int(values[6].argmax())
    r, g, b = colour(float(values[6, best]), palette.sequential())
    shade = f"rgb({r}, {g}, {b})"
    until(page, lambda: tokens.nth(best).evaluate("e => e.style.background"), shade)
    expect(tokens.nth(7)).to_contain_class("masked")
    tokens.nth(3).hover()
    weight = f"weight {significant(values[6, 3])},"
    expect(page.locator(".text .readout")).to_contain_text(weight)
    explorer.press("is read by")
    page.mouse.move(5, 5)
    expect(page.locator(".text .subtitle")).to_have_text(re.compile("^who reads"))
    masked = "all => [...all.keys()].filter(i => all[i].classList.contains('masked'))"
    until(page, lambda: tokens.evaluate_all(masked), list(range(best)))


def test_hostile_tokens_are_themselves_and_make_nothing(opened: Open, page: Page) -> None:
    explorer = opened("hostile")
    explorer.press("Text")
    expect(page.locator(f".running {OPTION}")).to_have_count(12)
    written = page.locator(f".running {OPTION}").all_inner_texts()
    assert written[0] == "<img src=x onerror=planted()>"
    assert written[1:4] == ["שלום", "عليكم", "e\u0301\u0301\u0301"]
    assert written[4] == "x" * 200
    assert written[7] == "‹202E›desrever"
    explorer.press("Lines")
    explorer.press("Row")
    for side in ("row", "col"):
        labels = [label.replace("\u202e", "‹202E›") for label in explorer_app.HOSTILE]
        until(page, page.locator(f".side.{side} .token").all_inner_texts, labels)
    explorer.press("Compare")
    made = explorer.ask(
        "[...explorer.root.querySelectorAll('img, b, script, iframe, style, svg, a')].length"
    )
    assert made == 0
    assert explorer.ask("explorer.root.scrollWidth - explorer.root.clientWidth") <= 0


def test_the_keyboard_reads_text_and_lines(opened: Open, page: Page) -> None:
    explorer = opened("model")
    explorer.press("Text")
    page.locator(".running").focus()
    page.keyboard.press("Home")
    for key in ("ArrowRight", "ArrowRight", "ArrowRight"):
        page.keyboard.press(key)
    expect(page.locator(".text .subtitle")).to_contain_text("on 3 reads")
    page.keyboard.press("Enter")
    page.get_by_text("row=3,").wait_for()
    page.keyboard.press("Escape")
    page.get_by_text("row=None,").wait_for()
    explorer.press("Lines")
    page.locator(".side.row").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    expect(page.locator(".lines .readout")).to_have_text("key 1 cat")


def test_512_tokens_scroll_in_their_own_box_and_draw_what_is_in_sight(
    opened: Open, page: Page
) -> None:
    explorer = opened("long")
    explorer.press("Lines")
    box = page.locator(".lines .scroll")
    when(page, lambda: box.evaluate("e => e.scrollHeight"), lambda high: high >= 512 * 24)
    assert box.evaluate("e => e.clientHeight") < 900
    ink = """e => { const {width, height} = e; const d = e.getContext('2d')
        .getImageData(0, 0, width, height).data; let n = 0;
        for (let i = 3; i < d.length; i += 4) n += d[i] > 0; return n; }"""
    canvas = page.locator(".lines canvas")
    when(page, lambda: canvas.evaluate(ink), lambda inked: inked > 1000)
    before = canvas.evaluate(PICTURE)
    box.evaluate("e => { e.scrollTop = 5000; }")
    when(page, lambda: canvas.evaluate(PICTURE), lambda now: now != before)
    assert canvas.evaluate(ink) > 1000
    size = page.locator(f".side.row {OPTION}").first.evaluate(
        "e => parseFloat(getComputedStyle(e).fontSize)"
    )
    assert size >= 12


@pytest.mark.parametrize("view", ["Lines", "Text", "Compare"])
def test_every_view_fits_a_phone(opened: Open, page: Page, view: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    for case in ("model", "hostile"):
        explorer = opened(case)
        explorer.press(view)
        explorer.press("Row")
        widths = explorer.ask("[explorer.root.clientWidth, explorer.root.scrollWidth]")
        assert max(widths) <= 390, (case, widths)
        page.locator(".more summary").click()
        small = explorer.ask(
            "[...explorer.root.querySelectorAll('button, select, summary, input')]"
            ".filter(e => e.offsetParent && e.getBoundingClientRect().height < 24)"
            ".map(e => e.outerHTML)"
        )
        assert small == []
        when(
            page,
            lambda: page.locator(".more .items").evaluate("e => e.getBoundingClientRect().right"),
            lambda right: right <= 390,
        )

"""Which heads do this?, and heads by a metric, in a browser on SmolLM2."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import quote

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from attnviz.metrics.ranking import which_heads
from attnviz.models import Capture, LoadedModel, capture
from attnviz.ui.page import CAUTIONS
from tests.browser.chromium import choose_row, until, wait_idle
from tests.browser.explorer_page import Explorer

pytestmark = [pytest.mark.browser, pytest.mark.models]

TEXT = "Mr and Mrs Dursley were proud to say that Mr and Mrs Durs"
HEAD = "[explorer.selection.layer, explorer.selection.head]"
Visit = Callable[..., Page]


@pytest.fixture(scope="module")
def captured(smollm2: LoadedModel) -> Capture:
    return capture(smollm2, TEXT)


def _is_first(page: Page, captured: Capture, queries: int | slice, keys: int | slice) -> None:
    """Wait for the list whose first row is the head that comes first, with its weight."""
    best = which_heads(captured, queries, keys).iloc[0]
    wanted = [f"{best['layer']:g}", f"{best['head']:g}", float(best["weight"])]
    page.wait_for_function(
        """([layer, head, weight]) => {
          const row = document.querySelectorAll('[data-testid=stDataFrame] [role=row]')[1];
          const [one, other, number] = [...(row?.children ?? [])].map((cell) => cell.textContent);
          return one === layer && other === head && Math.abs(Number(number) - weight) < 1e-6;
        }""",
        arg=wanted,
    )


def test_a_cell_and_a_block_rank_all_heads_and_a_row_shows_its_head(
    visit: Visit, captured: Capture
) -> None:
    page = visit(f"/inspect_model?tab=which&text={quote(TEXT)}", timeout=120)
    page.set_viewport_size({"width": 1440, "height": 2100})  # map and list in sight
    explorer = Explorer(page)
    explorer.settled()
    last = captured.n_tokens - 1
    assert captured.token_ids[last] == captured.token_ids[4]
    explorer.click("weights", last, 5)  # what induction would read
    page.wait_for_url(f"**row={last}**")
    page.get_by_text(f"All heads by their weight, from query {last}").wait_for()
    _is_first(page, captured, last, 5)
    choose_row(page.get_by_test_id("stDataFrame"), 1)
    best = which_heads(captured, last, 5).iloc[0]
    page.wait_for_url(f"**layer={best['layer']:g}&head={best['head']:g}**")
    explorer.until(HEAD, [best["layer"], best["head"]])
    expect(page.get_by_role("main")).to_contain_text(CAUTIONS["head_role"])
    wait_idle(page)

    # The mouse: Shift and the opposite corner.
    page.keyboard.down("Shift")
    explorer.click("weights", 9, 2)
    page.keyboard.up("Shift")
    page.wait_for_url(f"**to={last}_5**")
    page.get_by_text("All heads by their mean weight over a block").wait_for()
    _is_first(page, captured, slice(9, last + 1), slice(2, 6))
    expected = captured.weights(*map(int, explorer.ask(HEAD)))[9 : last + 1, 2:6].mean()
    page.mouse.move(2, 2)
    said = f"mean weight {np.format_float_positional(expected, 3, fractional=False)}"[:18]
    expect(page.locator("[data-panel=weights] .readout")).to_contain_text(said)
    wait_idle(page)

    # The keyboard: Enter at one corner, Shift + Enter at the other.
    plot = page.locator("[data-panel=weights] .plot")
    plot.focus()
    page.keyboard.press("Enter")
    for _ in range(2):
        page.keyboard.press("ArrowUp")
    page.keyboard.press("Shift+Enter")
    page.wait_for_function("() => /to=/.test(location.search) && !/row=9&/.test(location.search)")
    row, col, (to_row, to_col) = explorer.ask(
        "[explorer.selection.row, explorer.selection.col, explorer.selection.to]"
    )
    _is_first(page, captured, slice(row, to_row + 1), slice(col, to_col + 1))
    wait_idle(page)

    # What the mask forbids.
    explorer.click("weights", 3, 9)
    page.get_by_text("No head has any weight here").wait_for()


def test_heads_in_the_order_of_a_metric_and_past_a_threshold(
    visit: Visit, captured: Capture
) -> None:
    page = visit(f"/inspect_model?text={quote(TEXT)}", timeout=120)
    explorer = Explorer(page)
    table = captured.metrics().sort_values("induction", ascending=False, kind="stable")
    page.get_by_label("Colour thumbnails by").select_option("Induction score")
    page.get_by_label("Order of heads").select_option("largest first")
    options = page.locator(".ranking [role=option]")
    expect(options).to_have_count(len(table))
    best = [f"Layer {row.layer:g}, head {row.head:g}" for row in table.head(5).itertuples()]
    until(page, lambda: options.locator(".name").all_inner_texts()[:5], best)
    shown = options.locator(".value").all_inner_texts()[:5]
    np.testing.assert_allclose(list(map(float, shown)), table["induction"].head(5), rtol=5e-3)

    page.locator(".ranking").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    second = table.iloc[1]
    explorer.until(HEAD, [second["layer"], second["head"]])
    expect(options.nth(1)).to_have_attribute("aria-selected", "true")

    slider = page.get_by_label("At least")
    slider.focus()
    for _ in range(30):
        slider.press("ArrowRight")
    cut = explorer.ask("explorer.options.cut")
    many = int((table["induction"] >= cut).sum())
    assert 0 < many < 100
    expect(options).to_have_count(many)
    note = page.locator(".grid-view .note")
    expect(note).to_contain_text(f"{many} of {len(table)} heads pass")
    page.wait_for_url("**cut=**")
    page.wait_for_url("**order=down**")
    page.get_by_label("Order of heads").select_option("in their places")
    expect(page.locator(".ranking")).to_have_count(0)

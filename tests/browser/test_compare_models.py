"""Two texts and two models side by side in a browser."""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from playwright.sync_api import Page, expect

import attnviz as av
from attnviz.comparing import compare
from attnviz.models import LoadedModel
from tests.browser.chromium import choose_row, wait_idle
from tests.browser.explorer_page import Explorer

pytestmark = [pytest.mark.browser, pytest.mark.models]

A, B = "abcdefabcdef", "abcdxefabcdxef"


def test_two_texts_then_two_models_side_by_side(
    visit: Callable[..., Page], smollm2: LoadedModel
) -> None:
    page = visit(f"/compare_models?model_a=induction-2l&text_a={A}&text_b={B}", timeout=120)
    explorer = Explorer(page)
    model = av.load_model("induction-2l")
    found = compare(av.capture(model, A), av.capture(model, B))
    best = found.changes().table.iloc[0]
    head = (int(best["layer"]), int(best["head"]))
    expect(page.get_by_text(f"A: layer {head[0]}, head {head[1]}")).to_be_visible()

    # All three stand side by side, and a cell found in one is marked in all.
    maps = page.locator("[data-panel]")
    expect(maps).to_have_count(3)
    tops = maps.evaluate_all("(all) => all.map((one) => one.getBoundingClientRect().top)")
    assert max(tops) - min(tops) < 2
    maps.last.scroll_into_view_if_needed()
    wait_idle(page)
    row, col = 9, 2
    told = explorer.hover("difference", row, col)
    value = found.difference(head)[row, col]
    assert f"{abs(value):.3g}"[:5] in told
    for panel in ("a", "b", "difference"):
        marks = explorer.ask("explorer.views.get(argument).marks", panel)
        assert (marks["row"], marks["col"]) == (row, col), panel
    assert "undefined" in explorer.hover("difference", 4, 2)  # a token of B alone

    # Another head, chosen by its row in the table.
    second = found.changes().table.iloc[1]
    choose_row(page.get_by_test_id("stDataFrame").first, 2)
    title = f"B: layer {second['layer']:.0f}, head {second['head']:.0f}"
    expect(page.get_by_text(title, exact=True)).to_be_attached()
    wait_idle(page)

    # And one chosen in the grid.
    grid = page.get_by_role("grid", name=re.compile("All heads"))
    grid.focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page.get_by_text(re.compile(r"^B: layer \d, head 1$"))).to_be_visible()
    wait_idle(page)
    query = parse_qs(urlsplit(page.url).query)
    head = (int(query["layer"][0]), int(query["head"][0]))
    drawn = explorer.ask("Array.from(explorer.figure.panels[2].values, (v) => isNaN(v) ? null : v)")
    expected = found.difference(head)
    np.testing.assert_allclose(
        np.array(drawn, dtype=float).reshape(expected.shape), expected, atol=1e-6
    )

    # A model of another shape: no ranking, a head chosen in each.
    page.get_by_role("heading", level=1).scroll_into_view_if_needed()
    explorer.settled()  # a list that opens while the page scrolls closes again
    page.get_by_role("combobox", name=re.compile("Model B")).click()
    page.get_by_role("option", name=re.compile("SmolLM2")).click()
    expect(page.get_by_text(re.compile("A has 2 layers of 4 heads, B has 30"))).to_be_visible()
    page.get_by_role("combobox", name=re.compile("Head of B")).click()
    page.get_by_role("option", name="0.3", exact=True).click()
    expect(page.get_by_text("B: layer 0, head 3")).to_be_visible()
    wait_idle(page)
    other = compare(av.capture(model, A), av.capture(smollm2, B))
    drawn = explorer.ask("Array.from(explorer.figure.panels[1].values, (v) => isNaN(v) ? null : v)")
    expected = other.maps((0, 0), (0, 3))[1].values
    np.testing.assert_allclose(
        np.array(drawn, dtype=float).reshape(expected.shape), expected, atol=1e-6
    )

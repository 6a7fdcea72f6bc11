"""What people report of text on a page: read as markup, as LaTeX, as numbers; drawn as nothing."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import quote

import pytest
from playwright.sync_api import Page

from tests.browser.chromium import until
from tests.browser.conftest import LARGEST_MESSAGE
from tests.browser.explorer_page import Explorer

pytestmark = [pytest.mark.browser, pytest.mark.models]

Visit = Callable[..., Page]
TYPED = 'pays $5, gets $6; a:b_c_d _ital_ **bold** <b>tag</b> [link](http://e.x) " onmouseover="a'
"""Read as markdown: a formula, italics, bold, a link; as HTML: an element and an attribute."""
MADE = """() => {
  const roots = [document, ...[...document.querySelectorAll('*')].map((e) => e.shadowRoot)];
  const wrong = 'em, strong, b, i, .katex, a[href*="e.x"], [onmouseover], img[src="x"]';
  return roots.filter(Boolean).flatMap((root) => [...root.querySelectorAll(wrong)])
    .map((element) => element.outerHTML)
    .filter((html) => /ital|bold|tag|gets|e\\.x|onmouseover|b_c_d/.test(html));
}"""
PLACES = (
    "/masks?tab=conventions",
    "/step_by_step?row=3&col=1&panel=weights",
    "/variants?variant=gated_delta_rule&tab=state&token=2",
    "/inspect_model?tab=next",
)


def test_what_is_typed_is_echoed_as_it_is(visit: Visit) -> None:
    for place in PLACES:
        page = visit(f"{place}&text={quote(TYPED)}", timeout=120)
        labels = Explorer(page).ask("explorer.figure.panels[0].rows.labels")
        assert "".join(labels).replace("·", " ") == TYPED, place
        assert page.evaluate(MADE) == [], place


def test_numbers_and_special_tokens_are_names_in_a_chart_and_its_tooltip(visit: Visit) -> None:
    """`2024 7 100 3` is no axis of numbers, and `<|im_start|>` no element that nobody sees."""
    text = "2024 7<|im_start|>100 3"
    page = visit(f"/masks?tab=seen&text={quote(text)}", timeout=120)
    labels = Explorer(page).ask("explorer.figure.panels[0].rows.labels")
    assert labels == ["2", "0", "2", "4", "·", "7", "<|im_start|>", "1", "0", "0", "·", "3"]
    names = [f"{position} {label}" for position, label in enumerate(labels)]
    chart = page.locator("svg.marks")
    until(page, lambda: chart.locator("text").all_text_contents()[: len(names)], names)
    chart.locator(".mark-rect path").nth(6).hover()
    told = page.locator("#vg-tooltip-element")
    told.get_by_text("6 <|im_start|>").wait_for()
    assert "&lt;|im_start|&gt;" in told.inner_html()


def test_every_message_is_weighed(visit: Visit, messages: list[int]) -> None:
    """The watch that fails any test of a page that sends too much at once: it sees the figure."""
    page = visit("/inspect_model?text=The%20cat%20sat.", timeout=120)
    sent = Explorer(page).ask("explorer.figure.grid.stack.byteLength")
    assert 10_000 < sent < max(messages) < LARGEST_MESSAGE

"""The explorer in a browser, over figures whose every number is known."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from attnviz.figures import palette
from tests.browser import explorer_app
from tests.browser.chromium import until
from tests.browser.explorer_page import FIND, Explorer, colour, significant

pytestmark = pytest.mark.browser


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
    dark = colour(1, palette.sequential(dark=True))
    until(page, lambda: explorer.pixel("known", 5, 5), dark)
    assert explorer.pixel("signed", 0, 0) == colour(0, palette.diverging(dark=True))
    page.emulate_media(color_scheme="light")
    page.wait_for_function(f"() => ({FIND})().__explorer.theme.dark === false")
    until(page, lambda: explorer.pixel("known", 5, 5), colour(1, palette.sequential()))


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


def test_hiding_states_what_it_does(opened: Callable[[str], Explorer], page: Page) -> None:
    explorer = opened("model")
    explorer.press("Hide first token")
    assert explorer.ask("Array.from(explorer.views.get('head').scene.shown.cols.slice(0, 2))") == [
        1,
        2,
    ]
    note = page.locator(".toolbar .note")
    expect(note).to_contain_text("colours rescaled, weights unchanged")
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
    share = "65 % of an average query's weight is on the first token."
    expect(said).to_have_text(re.compile(f"^{re.escape(share)}"))
    expect(said).to_contain_text("an attention sink")
    scale = "explorer.views.get('weights').scene.scale.hi"
    assert explorer.ask(scale) == 1
    explorer.press("Hide first token")
    expect(said).to_contain_text("It is hidden now")
    assert explorer.ask(scale) == pytest.approx(0.35)  # the largest that is left
    values = explorer_app.sink().panels[0].values
    assert f"weight {significant(values[5, 3])}," in explorer.hover("weights", 5, 3)
    explorer.ask("explorer.select({layer: 0, head: 1})")
    expect(said).to_be_hidden()


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

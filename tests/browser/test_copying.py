"""Copy link: what it holds, opened by somebody else, is the same picture."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.chromium import until, wait_idle
from tests.browser.explorer_page import FIND, Explorer
from tests.browser.tab import new_context

pytestmark = [pytest.mark.browser, pytest.mark.models]

PIXELS = f"""() => [...({FIND})().querySelectorAll('canvas')].map((canvas) =>
  [`${{canvas.parentNode.className}} ${{canvas.className}} ${{canvas.width}} x ${{canvas.height}}`,
   canvas.toDataURL()])"""


def picture(page: Page) -> list[tuple[str, str]]:
    """Each canvas by name and size, and a digest of its pixels."""
    page.evaluate("() => document.fonts.ready")
    page.mouse.move(2, 2)
    Explorer(page).settled()
    return [
        (name, hashlib.sha256(pixels.encode()).hexdigest()[:8])
        for name, pixels in page.evaluate(PIXELS)
    ]


def copied(page: Page) -> str:
    """The link, taken at once: before Python has heard of the last change."""
    page.get_by_label("Export this picture").first.click()
    page.locator("[data-export='link']").first.click()
    page.get_by_role("button", name="Copied").wait_for()
    page.keyboard.press("Escape")
    return page.evaluate("() => navigator.clipboard.readText()")


@pytest.mark.parametrize(
    "address",
    [
        "/heads?text=the%20cat%20%26%20the%20dog%20sat&kv=4&causal=false",
        "/masks?text=one%20two%20one%20two&mask=window",
        "/inspect_model?text=" + "The%20cat%20sat%20on%20the%20mat.%20" * 9,
    ],
)
def test_a_copied_link_is_the_same_picture(
    visit: Callable[..., Page], browser: Browser, address: str
) -> None:
    page = visit(address, 120)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    with_grid = page.evaluate(f"() => ({FIND})().__explorer.figure.grid !== null")
    select = "panel: e.figure.panels.at(-1).id, row: 3, col: 1"
    if with_grid:
        select += ", layer: e.figure.grid.layers.at(-1), head: 1"
    page.evaluate(
        f"() => {{ const e = ({FIND})().__explorer; e.select({{{select}}});"
        f" e.change({{scale: 'row', palette: 'cividis', least: 0.05, hideFirst: true}}); }}"
    )
    zooms = page.evaluate(
        f"() => {{ const [view] = ({FIND})().__explorer.views.values();"
        " view.viewport.zoom(2.3, 7, 3.3); return view.viewport.isZoomed(); }"
    )
    assert zooms == address.startswith("/inspect"), "the others have nothing to zoom into"
    link = copied(page)
    assert ("zoom=2.3_" in link) == zooms
    wait_idle(page)
    context = new_context(browser)
    try:
        other = context.new_page()
        other.goto(link)
        wait_idle(other)
        # What is zoomed into is asked for, and comes when it is there.
        until(other, lambda: picture(other), picture(page))
        assert "row=3" in link
    finally:
        context.close()

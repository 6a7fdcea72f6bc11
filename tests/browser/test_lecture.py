"""The lecture view in a browser: what is left of the page, how large the picture is, the keys."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.chromium import wait_idle
from tests.browser.waiting import says, when

pytestmark = [pytest.mark.browser, pytest.mark.models]

# What is really drawn, cut to the viewport: of the panels and the grid each its own box, and the
# gaps between them not.
AREA = """() => {
  for (const element of document.querySelectorAll('*')) {
    const found = element.shadowRoot?.querySelector('.explorer');
    if (!found?.classList.contains('lecture')) continue;
    const boxes = [...found.querySelectorAll('.panel, .grid-view')]
      .map((one) => one.getBoundingClientRect());
    const [least, most] = [Math.min, Math.max];
    let area = 0;
    for (const { left, right, top, bottom } of boxes) {
      const wide = least(innerWidth, right) - most(0, left);
      area += wide * (least(innerHeight, bottom) - most(0, top));
    }
    return area / (innerWidth * innerHeight);
  }
}"""


@pytest.mark.parametrize("path", ["step_by_step", "masks", "heads", "inspect_model"])
def test_the_picture_has_the_screen(visit: Callable[..., Page], page: Page, path: str) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    visit(f"/{path}?view=lecture", timeout=90)
    page.locator(".explorer.lecture").wait_for()
    for part in ("stSidebar", "stHeader", "stToolbar"):
        expect(page.get_by_test_id(part).first).not_to_be_visible()
    when(page, lambda: page.evaluate(AREA), lambda area: area is not None and area >= 0.7)


def test_the_keys_act_without_focus(visit: Callable[..., Page], page: Page) -> None:
    visit("/step_by_step?view=lecture")
    page.locator(".explorer.lecture").wait_for()
    titles = page.locator(".explorer .panel .title")
    first = ["Queries Q = X·Wq", "Keys K = X·Wk", "Scores S = Q·Kᵀ"]
    expect(titles).to_have_text(first)
    page.keyboard.press("ArrowRight")
    expect(titles).to_have_text([first[2], "Scaled scores"])
    page.keyboard.press(" ")
    expect(titles).to_have_text(["Scaled scores", "Masked scores"])
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    page.keyboard.press(" ")
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()
    page.keyboard.press("5")
    expect(titles).to_have_text(["Weights A = softmax", "Values V = X·Wv", "Output O = A·V"])
    page.keyboard.press("r")
    expect(titles).to_have_text(first)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="Keys")).to_be_hidden()
    wait_idle(page)
    page.keyboard.press("m")
    says(page, mask="causal")
    says(page, view="lecture")
    wait_idle(page)  # the address is there before the run is over
    page.keyboard.press("m")
    says(page, mask=None)
    wait_idle(page)
    page.keyboard.press("Escape")
    says(page, view=None)
    expect(page.get_by_role("button", name="Lecture view")).to_be_visible()


@pytest.mark.parametrize(
    ("path", "word", "value"), [("heads", "causal", "false"), ("variants", "mask", "none")]
)
def test_m_takes_the_mask_away_where_there_is_one(
    visit: Callable[..., Page], page: Page, path: str, word: str, value: str
) -> None:
    visit(f"/{path}?view=lecture")
    page.locator(".explorer.lecture").wait_for()
    page.keyboard.press("m")
    says(page, **{word: value})
    wait_idle(page)
    page.keyboard.press("m")
    says(page, **{word: None})

"""axe-core on every page and every part of it: nothing serious or critical, Streamlit's own
elements included, in both themes, on a desk and on a phone."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from attnviz.ui.pages import PAGES
from tests.browser.chromium import wait_idle

pytestmark = pytest.mark.browser

PHONE = {"width": 390, "height": 844}
QUICK = {
    "home": "",
    "cost": "cost?longest=1024",
    "decoding": "decoding?n=2",
    "many_texts": "many_texts?model=induction-2l&tab=code",
    "interventions": "interventions?text=Mr%20Dursley.%20Mr%20Durs",
}
PLACES = [f"/{QUICK.get(entry.word, entry.word)}" for entry in PAGES]
PARTS = [
    "/?show=lines&lines=rows&with=3.4&bars=1&table=1",
    "/?show=text&read=to&row=5&col=2",
    "/?show=compare&metric=entropy&hide=first",
    "/masks?show=lines&bars=1",
    "/masks?tab=seen",
    "/masks?tab=conventions",
    "/masks?tab=empty",
    "/masks?tab=code",
    "/step_by_step?tab=formulas",
    "/step_by_step?tab=scaling",
    "/step_by_step?tab=dictionary",
    "/step_by_step?tab=code",
    "/heads?tab=costs",
    "/heads?tab=alike",
    "/heads?tab=code",
    "/variants?variant=gated_delta_rule&tab=state",
    "/variants?variant=kimi_delta&tab=steps",
    "/variants?variant=linear&tab=formulas",
    "/variants?variant=multi_head&tab=cost",
    "/variants?variant=mamba2&tab=code",
    "/compare?tab=cost",
    "/compare?tab=code",
    "/recall?seeds=1&d_state=16&tab=numbers",
    "/cost?longest=2048&tab=numbers",
    "/cost?longest=2048&tab=published",
    "/inspect_model?tab=heads",
    "/inspect_model?tab=files",
    "/inspect_model?tab=which&row=8&col=2&metric=entropy&order=down&cut=1",
    "/inspect_model?model=other",
    "/induction?step=removal",
    "/interventions?model=minilm-l6",
    "/decoding?n=2",
    "/decoding?n=1&tab=evict",
    "/kv_cache?tab=compare",
    "/kv_cache?tab=fits",
    "/kv_cache?tab=source",
    "/kv_cache?design=Config&tab=reduction",
    "/kv_cache?tab=lesson",
    "/no_such_page",
]
RUN = """async () => {
  const found = await axe.run(document, {
    resultTypes: ['violations'],
    rules: { 'target-size': { enabled: true } },
  });
  return found.violations.flatMap(({ id, impact, nodes }) =>
    nodes.map(({ target, html, failureSummary }) =>
      ({ id, impact, target: JSON.stringify(target), html: html.slice(0, 200), failureSummary })));
}"""


@cache
def source() -> str:
    package = Path(sys.prefix) / "axe" / "node_modules" / "axe-core" / "axe.min.js"
    assert package.exists(), "no axe-core: run scripts/setup_dev.sh"
    return package.read_text(encoding="utf-8")


# A contrast is measured when nothing fades any more.
STILL = """() => document.getAnimations().every((one) =>
  one.playState !== 'running' || one.effect.getComputedTiming().endTime === Infinity)"""


def faults(page: Page) -> list[dict[str, Any]]:
    """What axe-core finds on the page as it is now, and holds for serious or critical."""
    page.wait_for_function(STILL)
    page.evaluate(source())
    return [one for one in page.evaluate(RUN) if one["impact"] in ("serious", "critical")]


def turn(page: Page, theme: str) -> None:
    """Another theme, as a visitor's system sets it."""
    before = "() => getComputedStyle(document.querySelector('.stApp')).backgroundColor"
    was = page.evaluate(before)
    page.emulate_media(color_scheme=theme)
    page.wait_for_function(f"was => ({before})() !== was", arg=was)
    wait_idle(page)


@pytest.mark.parametrize("path", PLACES)
def test_no_page_shuts_anybody_out(visit: Callable[..., Page], path: str) -> None:
    page = visit(path)
    assert faults(page) == [], path
    turn(page, "dark")
    assert faults(page) == [], (path, "dark")
    page.set_viewport_size(PHONE)
    wait_idle(page)
    assert faults(page) == [], (path, "dark", PHONE)


@pytest.mark.parametrize("path", PARTS)
def test_no_part_of_a_page_shuts_anybody_out(visit: Callable[..., Page], path: str) -> None:
    page = visit(path)
    assert faults(page) == [], path
    page.set_viewport_size(PHONE)
    turn(page, "dark")
    assert faults(page) == [], path


def test_open_menus_shut_nobody_out(visit: Callable[..., Page]) -> None:
    page = visit("/")
    for menu in (".more", ".panel .menu"):
        page.locator(f"{menu} summary").first.click()
        page.locator(f"{menu}[open]").wait_for()
        assert faults(page) == [], menu
        page.keyboard.press("Escape")
        expect(page.locator(f"{menu}[open]")).to_have_count(0)
    page = visit("/masks")
    page.get_by_text("Text and sizes").click()
    page.get_by_test_id("stPopoverBody").wait_for()
    wait_idle(page)
    assert faults(page) == []


def test_axe_finds_what_is_wrong(visit: Callable[..., Page]) -> None:
    page = visit("/")
    page.evaluate(
        """() => {
          const root = document.querySelector('[data-testid="stMain"] h1').parentElement;
          const text = document.createElement('p');
          text.textContent = 'hardly there';
          text.style = 'color: #ddd; background: #fff';
          const picture = document.createElement('button');
          root.append(text, picture);
        }"""
    )
    assert {one["id"] for one in faults(page)} == {"color-contrast", "button-name"}

"""The Variants page and the pages that compare, in a browser: one round on each."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.waiting import fits, says

pytestmark = [pytest.mark.browser, pytest.mark.models]


def test_a_head_and_a_variant_are_chosen_and_kept_in_the_address(
    visit: Callable[..., Page],
) -> None:
    page = visit("/variants?variant=delta_rule&tab=state&t=2")
    expect(page.get_by_role("heading", level=1)).to_have_text(re.compile("correct itself"))
    page.get_by_role("grid", name=re.compile("All heads")).focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page.get_by_text(re.compile("exact effective map of head 1"))).to_be_visible()
    expect(page.get_by_text(re.compile("Token 2 .*, head 1"))).to_be_visible()
    page.get_by_role("combobox", name=re.compile("Variant")).click()
    page.get_by_role("option", name="Retention").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(re.compile("past simply faded"))
    says(page, variant="retention")


@pytest.mark.parametrize("tab", ["lesson", "steps", "state", "formulas", "cost", "code"])
def test_no_part_is_wider_than_a_phone(visit: Callable[..., Page], page: Page, tab: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    visit(f"/variants?variant=kimi_delta&tab={tab}")
    fits(page, 390)


def test_compared_maps_are_linked(visit: Callable[..., Page]) -> None:
    page = visit("/compare?a=multi_head&b=linear&c=none")
    panels = page.locator(".explorer .panel")
    expect(panels).to_have_count(3)
    expect(page.get_by_text("Multi-head attention minus Linear attention")).to_be_visible()
    fits(page, 1440)


def test_recall_is_measured_and_its_numbers_can_be_taken_away(visit: Callable[..., Page]) -> None:
    page = visit("/recall?d_state=16&seeds=1&tab=numbers", timeout=120)
    expect(page.get_by_text(re.compile("in a state of 16 × 16"))).to_be_visible()
    with page.expect_download() as caught:
        page.get_by_role("button", name="Every seed (CSV)").click()
    lines = caught.value.path().read_text().splitlines()
    assert lines[0].startswith('"task","mechanism",')
    assert len(lines) == 1 + 6 * (6 + 4)


def test_a_long_measurement_can_be_stopped(visit: Callable[..., Page], page: Page) -> None:
    visit("/cost?forms=multi_head/sdpa&longest=2048", timeout=120)
    expect(page.get_by_text(re.compile(r"head of 64 channels\."))).to_be_visible()
    page.goto(page.url.split("?")[0] + "?forms=kimi_delta/recurrent,mamba2/recurrent&longest=16384")
    page.get_by_role("main").get_by_role("button", name="Stop").click(timeout=90_000)
    expect(page.get_by_text("Stopped before it was done")).to_be_visible()

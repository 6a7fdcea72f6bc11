"""The calculator in a browser: links, sliders by keyboard, files, a phone's width."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from attnviz import kv_cache as kv
from tests.browser.chromium import wait_idle
from tests.browser.waiting import rest

pytestmark = pytest.mark.browser

Visit = Callable[..., Page]


def press(page: Page, label: str, key: str, then: str) -> None:
    """Press a key on a slider and wait until the address, and then the page, has followed."""
    page.get_by_role("slider", name=label).press(key)
    expect(page).to_have_url(re.compile(rf"[?&]{then}(&|$)"))
    wait_idle(page)


def number_of(page: Page) -> Locator:
    return page.locator(".calculator .metric-value").first


DRAGGED = """slider => {
  const root = slider.closest(".calculator");
  const taken = [];
  for (let turn = 0; turn < 28; turn += 1) {
    slider.value = String(turn % 12);
    const begin = performance.now();
    slider.dispatchEvent(new Event("input", { bubbles: true }));
    root.getBoundingClientRect();  // with the layout that the change needs
    taken.push(performance.now() - begin);
  }
  return taken.sort((a, b) => a - b);
}"""


def test_a_link_holds_the_whole_configuration(visit: Visit, server_url: str):
    page = visit("/kv_cache?design=MLA&latent=256&rope=32&context=32768&layers=4&dtype=float8")
    z = kv.size(kv.latent_attention(4, 32, 128, 256, 32), 32_768, dtype="float8")
    expect(page.get_by_text(f"{z.total_bytes:,} bytes", exact=True).first).to_be_visible()
    press(page, "Context in tokens", "ArrowRight", "context=65536")
    expect(number_of(page)).to_have_text("72.0 MiB")
    expect(number_of(visit(page.url.removeprefix(server_url)))).to_have_text("72.0 MiB")


def test_the_groups_slider_by_keyboard(visit: Visit):
    page = visit("/kv_cache?design=GQA")
    expect(number_of(page)).to_have_text("1.00 GiB")
    press(page, "KV heads (groups)", "ArrowLeft", "kv=4")
    expect(number_of(page)).to_have_text("512 MiB")


def test_settings_survive_a_look_at_another_design(visit: Visit):
    page = visit("/kv_cache?design=GQA&kv=2&heads=16")
    expect(number_of(page)).to_have_text("256 MiB")
    for design, value in (("MLA", "288 MiB"), ("Model", "1.00 GiB"), ("GQA", "256 MiB")):
        page.get_by_role("radio", name=design, exact=True).click()
        expect(number_of(page)).to_have_text(value)
        wait_idle(page)
    expect(number_of(page)).to_have_text("256 MiB")


def test_what_is_impossible_is_said_in_a_sentence(visit: Visit):
    page = visit("/kv_cache?design=GQA&heads=12&kv=8")
    sentence = page.get_by_text("8 KV heads (groups) do not share 12 query heads evenly")
    expect(sentence).to_be_visible()
    press(page, "KV heads (groups)", "ArrowLeft", "kv=6")
    expect(sentence).to_have_count(0)
    # 32 layers, 6 KV heads, a key and a value of 128, 8,192 tokens, 2 bytes
    expect(number_of(page)).to_have_text("768 MiB")


def test_an_exact_context_can_be_typed(visit: Visit):
    page = visit("/kv_cache?preset=kimi-k3")
    page.get_by_role("button", name="More").click()
    field = page.get_by_label("Another context, in tokens")
    field.fill("-5")
    field.press("Enter")
    wait_idle(page)
    expect(page.get_by_text("must be at least 0, not -5.")).to_be_visible()
    field.fill("100000")
    field.press("Enter")
    wait_idle(page)
    z = kv.size(kv.preset("kimi-k3"), 100_000)
    expect(page.get_by_text(f"{z.total_bytes:,} bytes", exact=True).first).to_be_visible()
    expect(page).to_have_url(re.compile("context=100000"))


def test_the_table_comes_as_a_file_without_a_rerun(visit: Visit, tmp_path: Path):
    page = visit("/kv_cache?preset=deepseek-v3&context=4096")
    page.get_by_role("radio", name="Side by side").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV", exact=True).click()
    assert download.value.suggested_filename == "attnviz-kv-cache-deepseek-v3-4096.csv"
    download.value.save_as(tmp_path / "table.csv")
    rows = list(csv.DictReader((tmp_path / "table.csv").open()))
    assert rows[0]["total_bytes"] == "287834112"
    assert rows[0]["bytes_per_token"] == "70272"


@pytest.mark.parametrize("width", [390, 320])
def test_nothing_is_wider_than_a_phone(visit: Visit, page: Page, width: int):
    page.set_viewport_size({"width": width, "height": 844})
    visit("/kv_cache?preset=kimi-k3&context=1048576")
    expect(page.locator(".calculator svg.curve")).to_be_visible()
    main = page.get_by_test_id("stMain")
    assert main.evaluate("node => node.scrollWidth - node.clientWidth") <= 0
    for chart in page.locator(".calculator svg").all():
        box = chart.bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width


def test_every_name_in_the_chart_is_inside_it(visit: Visit):
    page = visit("/kv_cache?preset=deepseek-v2-lite")
    chart = page.locator(".calculator svg.curve")
    frame = chart.bounding_box()
    assert frame is not None
    for name in ("MHA", "MQA", "GQA-8"):
        box = chart.locator("text.name", has_text=name).first.bounding_box()
        assert box is not None
        assert box["x"] + box["width"] <= frame["x"] + frame["width"]
        assert box["y"] >= frame["y"]


def test_sliders_act_while_they_are_dragged(visit: Visit):
    """With the button still down the numbers follow, the server hearing nothing of it."""
    page = visit("/kv_cache?design=GQA&ratio=5")
    slider = page.get_by_role("slider", name="Context in tokens")
    box = slider.bounding_box()
    assert box is not None
    before, curve = number_of(page).inner_text(), page.locator(".calculator path.this")
    drawn, dot = curve.get_attribute("d"), page.locator(".calculator .dot").get_attribute("cx")
    assert dot is not None
    page.mouse.move(box["x"] + box["width"] * 6 / 13, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] - 2, box["y"] + box["height"] / 2, steps=4)
    z = kv.size(kv.grouped_query(32, 32, 8, 128, window=1024, ratio=5), 2**20)
    expect(page.locator(".calculator .metric-exact").first).to_have_text(f"{z.total_bytes:,} bytes")
    expect(number_of(page)).not_to_have_text(before)
    expect(page.locator(".calculator .dot")).not_to_have_attribute("cx", dot)
    rest(page, 200)
    assert "context=" not in page.url
    page.mouse.up()
    expect(page).to_have_url(re.compile("context=1048576"))
    wait_idle(page)
    expect(page.get_by_text(f"= {z.total_bytes}").first).to_be_visible()  # Python says the same
    heads = page.get_by_role("slider", name="Windowed layers for each full one")
    taken = heads.evaluate(DRAGGED)
    assert curve.get_attribute("d") != drawn
    assert taken[len(taken) // 2] < 50, taken

"""A visitor's own picture on the Variants page: uploaded, cut into patches, asked."""

from __future__ import annotations

import re
from collections.abc import Callable
from io import BytesIO

import pytest
from PIL import Image
from playwright.sync_api import Page, expect

from tests.browser.chromium import wait_idle
from tests.browser.waiting import says

pytestmark = [pytest.mark.browser, pytest.mark.models]

SAID = re.compile(r"object query \d, head \d: the largest weight, 0\.\d{4}, is on r\dc\d")


def png() -> bytes:
    out = BytesIO()
    picture = Image.new("RGB", (96, 48), "white")
    picture.paste("navy", (60, 10, 80, 40))
    picture.save(out, "PNG")
    return out.getvalue()


def test_a_picture_is_uploaded_and_read(visit: Callable[..., Page]) -> None:
    page = visit("/variants?variant=object_query&grid_input=picture")
    expect(page.get_by_text("Upload a PNG or JPEG above")).to_be_visible()
    chooser = page.locator('input[type="file"]')
    broken = {"name": "a.png", "mimeType": "image/png", "buffer": png()[:60]}
    chooser.set_input_files([broken])
    expect(page.get_by_text("broken or cut short")).to_be_visible()
    chooser.set_input_files([{"name": "b.png", "mimeType": "image/png", "buffer": png()}])
    said = page.get_by_text(SAID)
    expect(said).to_contain_text("object query 1, head 0")
    expect(said).to_contain_text("4 × 8 patches of 32 × 32 pixels; their weights add up to 1")
    expect(page.get_by_label(re.compile("over the picture in grey")).first).to_be_visible()
    page.get_by_role("slider", name=re.compile("Query")).focus()
    page.keyboard.press("ArrowRight")
    expect(said).to_contain_text("object query 2, head 0")
    says(page, row="1")
    wait_idle(page)
    # The picture stays while another variant is looked at, and a broken file does not replace it.
    chooser.set_input_files([broken])
    expect(page.get_by_text("broken or cut short")).to_be_visible()
    expect(said).to_contain_text("4 × 8 patches")
    page.get_by_role("combobox", name=re.compile("Variant")).click()
    page.get_by_role("option", name="Shifted windows").click()
    expect(page.get_by_text(re.compile(r"^r\dc\d, head 0: .*4 × 8 patches"))).to_be_visible()

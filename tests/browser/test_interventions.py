"""Knock-out and sweep in a browser, each done by hand and read off, against the library."""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

import attnviz as av
from attnviz.interventions import Knockout, Scale, intervene, sweep
from attnviz.ui.page import CAUTIONS
from tests.browser.chromium import wait_idle
from tests.browser.waiting import fits, says

pytestmark = [pytest.mark.browser, pytest.mark.models]

TEXT = "k7#Qz!pmk7#Qz!p"  # induction-2l reads characters; m has to come next
SEVERAL = 90_000


@pytest.fixture(scope="module")
def model() -> av.models.LoadedModel:
    return av.load_model("induction-2l", device="cpu")


def test_the_sweep_and_a_knock_out(
    visit: Callable[..., Page], model: av.models.LoadedModel
) -> None:
    """Of a text typed here: the sweep's sentence, then a head and a scale typed into the list."""
    page = visit("/interventions?model=induction-2l", timeout=180)
    main = page.get_by_role("main")
    box = main.get_by_role("textbox", name="Text", exact=True)
    box.fill(TEXT)
    box.press("Control+Enter")
    swept = sweep(model, TEXT)
    table = swept.table()
    assert swept.token == "m"
    worst = table.iloc[0]
    told = main.get_by_text(re.compile(r"^Next token 'm'"))
    told.wait_for(timeout=SEVERAL)
    numbers = [float(number) for number in re.findall(r"\d\.\d+(?:e-\d+)?", told.inner_text())]
    wanted = (swept.probability, worst["probability"], table.iloc[-1]["probability"])
    assert numbers == pytest.approx(wanted, abs=6e-5)
    assert f"layer {worst['layer']}, head {worst['head']} it is" in told.inner_text()
    assert "the lowest of 8 removals" in told.inner_text()
    for key in ("removed", "head_role"):
        expect(main.get_by_text(CAUTIONS[key])).to_be_visible()

    wait_idle(page)
    line = main.get_by_role("textbox", name="Heads to remove, as layer.head")
    expect(line).to_have_value(f"{worst['layer']}.{worst['head']}")
    line.fill("1.0")
    line.press("Enter")
    main.get_by_text("1. layer 1, head 0 removed").wait_for(timeout=SEVERAL)
    read_change(page, model, [Knockout(1, 0)])
    main.get_by_role("button", name="Scale, hide pairs, patch").click()
    scale = page.get_by_role("textbox", name="Heads to scale")
    scale.fill("0.0 x half")
    scale.press("Enter")
    page.get_by_text(re.compile("A head is scaled as in 17.3 x 2")).wait_for(timeout=SEVERAL)
    expect(scale).to_have_value("0.0 x half")  # what was typed is kept
    scale.fill("0.0 x 0.5")
    scale.press("Enter")
    page.get_by_text("2. layer 0, head 0 times 0.5").wait_for(timeout=SEVERAL)
    wait_idle(page)
    read_change(page, model, [Knockout(1, 0), Scale(0, 0, 0.5)])
    says(page, heads="1.0", scale="0.0 x 0.5", text=TEXT)

    page.set_viewport_size({"width": 390, "height": 844})
    wait_idle(page)
    fits(page, 390)


def read_change(page: Page, model: av.models.LoadedModel, edits: list) -> None:
    """The page's sentence against the library's numbers."""
    found = intervene(model, TEXT, edits)
    before, after = found.loss()
    words = f"{before:.4f} nats a token as it is, {after:.4f} changed"
    expect(page.get_by_role("main").get_by_text(words)).to_be_visible(timeout=SEVERAL)
    assert abs(after - before) > 0.1


def test_the_worked_example_goes_from_the_score_to_the_evidence(
    visit: Callable[..., Page],
) -> None:
    page = visit(f"/induction?step={quote('finder')}", timeout=120)
    main = page.get_by_role("main")
    score = main.get_by_text(re.compile("Layer 1, head 0 has 0.9"))
    score.wait_for(timeout=SEVERAL)
    expect(main.get_by_text(CAUTIONS["head_role"])).to_be_visible()
    main.get_by_role("radio", name="4. Remove each").click()
    told = main.get_by_text(re.compile("Loss on the second half"))
    told.wait_for(timeout=SEVERAL)
    finder, median = re.search(
        r"layer 1, head 0 it rises by ([\d.]+).*median head by ([\d.]+)\.", told.inner_text()
    ).groups()  # type: ignore[union-attr]
    assert float(finder) >= 1
    assert float(median) < 0.1
    says(page, step="removal")
    visit("/induction?step=removal&view=lecture")
    expect(page.get_by_text(re.compile("Loss on the second half"))).to_be_visible()
    expect(page.get_by_test_id("stSidebarNavLink").first).to_be_hidden()

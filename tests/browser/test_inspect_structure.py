"""All heads by how alike they are, and value-weighted maps, in a browser."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from attnviz.interventions import value_weighted
from attnviz.metrics.layout import head_distances
from attnviz.models import LoadedModel, capture
from tests.browser.chromium import wait_idle
from tests.browser.explorer_page import Explorer
from tests.browser.waiting import fits, says, when

pytestmark = [pytest.mark.browser, pytest.mark.models]

TEXT = "the cat the dog the cat"


def test_a_point_of_the_plane_chooses_its_head_and_its_value_weighted_map(
    visit: Callable[..., Page], minilm: LoadedModel
) -> None:
    page = visit(
        f"/inspect_model?model=minilm-l6&text={TEXT.replace(' ', '+')}&tab=alike", timeout=120
    )
    captured = capture(minilm, TEXT)
    _, distances = head_distances(captured)
    least = (distances + 2 * np.eye(72)).min()
    expect(page.get_by_text(re.compile(f"Most alike: .* at distance {least:.3f}"))).to_be_visible()

    points = page.locator("path[aria-roledescription='circle']")
    expect(points).to_have_count(72)
    # The one farthest from all others, which no other covers.
    lonely = int(np.argmax((distances + 2 * np.eye(72)).min(1)))
    points.nth(lonely).click(force=True)
    layer, head = divmod(lonely, 12)
    page.wait_for_url(f"**layer={layer}&head={head}**")

    page.get_by_role("radio", name="Value-weighted").click()
    expect(page.get_by_text("Norms, not probabilities", exact=False)).to_be_visible()
    shown = Explorer(page)
    shown.until("explorer.figure.panels[0].scale", "magnitude")
    wait_idle(page)
    expected = value_weighted(minilm, captured).weights(layer, head)
    drawn = shown.ask("Array.from(explorer.figure.panels[0].values)")
    np.testing.assert_allclose(np.reshape(drawn, expected.shape), expected, rtol=1e-4)
    number = f"{expected[4, 2]:.3g}"[:4]
    when(page, lambda: shown.hover("weights", 4, 2), lambda said: number in said)
    says(page, cells="norms")


def test_rollout_of_a_layer_on_a_phone(visit: Callable[..., Page], page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    visit(f"/inspect_model?model=minilm-l6&text={TEXT.replace(' ', '+')}&tab=chains", timeout=120)
    expect(
        page.get_by_text(re.compile("After layer 5, .* its row sums to 1.000000"))
    ).to_be_visible()
    page.get_by_role("slider", name="Rollout up to layer").press("ArrowLeft")
    expect(page.get_by_text(re.compile("After layer 4, "))).to_be_visible()
    fits(page, 390)

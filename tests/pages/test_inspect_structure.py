"""Inspect a model: value-weighted maps, how alike heads are, attention through all layers."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import attnviz as av
from attnviz.figures.capture_words import capture_code
from attnviz.interventions import value_weighted
from attnviz.metrics.layout import head_distances
from attnviz.models import LoadedModel
from attnviz.models.choice import ModelChoice
from attnviz.ui.page import CAUTIONS
from tests.components.test_payload import unpack
from tests.pages.test_inspect_model import open_page

pytestmark = pytest.mark.models

TEXT = "the cat the dog the cat"


def visit(**query: str) -> AppTest:
    return open_page(model="minilm-l6", text=TEXT, **query)


def texts(app: AppTest) -> str:
    return " ".join(text.value for text in app.text)


def panels(app: AppTest, place: int) -> list[dict[str, Any]]:
    """The panels of a picture of this page, their values as arrays."""
    header, arrays = unpack(app.get("bidi_component")[place].proto.bytes)
    return [panel | {"values": arrays[panel["values"]]} for panel in header["panels"]]


def test_value_weighted_maps_are_norms_and_say_so(minilm: LoadedModel) -> None:
    app = visit(cells="norms", layer="3", head="5")
    (panel,) = panels(app, 0)
    assert panel["scale"] == "magnitude"
    assert panel["valueName"] == "norm"
    expected = value_weighted(minilm, av.capture(minilm, TEXT)).weights(3, 5)
    np.testing.assert_allclose(panel["values"], expected, rtol=1e-5)
    assert "Norms, not probabilities" in texts(app)
    assert "Rows do not sum to 1" in texts(app)
    app.button_group(key="cells").set_value("weights").run()
    assert panels(app, 0)[0]["scale"] == "weight"
    assert "Norms" not in texts(app)


def test_the_code_of_value_weighted_maps_runs(
    minilm: LoadedModel, capsys: pytest.CaptureFixture[str]
) -> None:
    exec(capture_code(ModelChoice("minilm-l6"), TEXT, norms="self"), {"layer": 3, "head": 5})
    weighted = value_weighted(minilm, av.capture(minilm, TEXT))
    assert capsys.readouterr().out.strip() == str(weighted.weights(3, 5))


def test_all_heads_by_how_alike_they_are(minilm: LoadedModel) -> None:
    app = visit(tab="alike", cells="norms")  # distances are of weights all the same
    places, distances = head_distances(av.capture(minilm, TEXT))
    (panel,) = panels(app, 2)
    assert panel["values"].shape == (72, 72)
    np.testing.assert_allclose(np.sort(panel["values"].ravel()), np.sort(distances.ravel()))
    least = (distances + 2 * np.eye(72)).min()
    assert f"at distance {least:.3f}" in texts(app)
    assert "72 heads; the plane keeps" in texts(app)
    (chart,) = app.get("vega_lite_chart")
    assert '"name": "point"' in json.dumps(json.loads(chart.proto.spec))
    words = " ".join(block.value for block in app.markdown)
    assert words.count(CAUTIONS["not_explanation"]) == 2
    assert places[0] == (0, 0)


def test_attention_through_all_layers() -> None:
    app = visit(tab="chains")
    rollout, flow = panels(app, 2)
    np.testing.assert_allclose(rollout["values"].sum(1), 1, atol=1e-6)
    assert rollout["title"] == "Rollout, layers 0 to 5"
    assert flow["scale"] == "magnitude"
    assert "its row sums to 1.000000" in texts(app)
    assert CAUTIONS["rollout"] in " ".join(block.value for block in app.markdown)
    app.select_slider(key="upto").set_value(0).run()
    first = panels(app, 2)[0]
    assert first["title"] == "Rollout, layers 0 to 0"
    np.testing.assert_allclose(first["values"].diagonal().min(), 0.5, atol=0.05)


def test_a_long_text_is_bounded_in_words() -> None:
    app = open_page(model="minilm-l6", text="the cat sat " * 90, tab="alike")
    assert "at most 256 tokens, not 272" in texts(app)
    assert not app.get("vega_lite_chart")


def test_what_these_maps_cannot_fill_is_not_offered() -> None:
    app = open_page(model="date-translator", text="3 march 2021", group="cross", tab="chains")
    tabs = app.button_group(key="tab")
    assert "Through all layers" not in tabs.options
    assert tabs.value == "next"
    said = " ".join(block.value for block in app.markdown)
    assert "reads one text and writes another" in said
    app.button_group(key="group").set_value("decoder").run()
    assert not app.exception
    assert "Through all layers" in app.button_group(key="tab").options

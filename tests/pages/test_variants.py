"""The Variants page: one template for whatever the registry holds."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import attnviz as av
from attnviz.ui.page import CAUTIONS
from attnviz.ui.variant_panels import SECTIONS
from attnviz.ui.variant_settings import settings_of
from tests.components.test_payload import unpack

PAGE = Path(__file__).parents[2] / "pages" / "variants.py"
NAMES = av.variants.names()
STATEFUL = [word for word in NAMES if av.variants.find(word).recurrence is not None]

pytestmark = pytest.mark.models  # the tokenizer is SmolLM2's


def open_page(**query: str) -> AppTest:
    app = AppTest.from_file(str(PAGE), default_timeout=60)
    for word, value in query.items():
        app.query_params[word] = value
    app.session_state["more"] = True  # what is folded is open
    app.run()
    assert not app.exception
    return app


def texts(app: AppTest) -> str:
    return "\n".join(element.value for element in [*app.markdown, *app.text])


@pytest.mark.parametrize("name", NAMES)
def test_every_variant_draws_the_map_that_its_code_computes(name: str) -> None:
    header, arrays = unpack(open_page(variant=name).get("bidi_component")[0].proto.bytes)
    names: dict = {"head": 0}
    exec(compile(header["snippet"], "snippet", "exec"), names)
    trace = names["trace"]
    shown = arrays[header["panels"][0]["values"]]
    assert np.array_equal(shown, trace.weights[0, 0].numpy())
    signed = trace.weights_kind == "effective"
    assert header["panels"][0]["scale"] == ("signed" if signed else "weight")
    assert header["grid"] is None or header["grid"]["signed"] == signed


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("tab", SECTIONS)
def test_every_part_of_every_variant_opens(name: str, tab: str) -> None:
    app = open_page(variant=name, tab=tab)
    assert not any("could not be done" in block.value for block in app.markdown)
    mounts = len(app.get("bidi_component"))
    drawn = {"steps": True, "state": name in STATEFUL, "decoding": name == "latent"}.get(tab, False)
    assert mounts == 1 + drawn, "what is not looked at is not made"


def test_an_effective_map_is_told_to_be_none_of_a_probability() -> None:
    words = texts(open_page(variant="delta_rule"))
    assert "exact effective map of head 0" in words
    assert CAUTIONS["effective_map"] in words
    words = texts(open_page(variant="multi_head", mask="causal"))
    assert "rows add up to 1." in words
    assert CAUTIONS["effective_map"] not in words


def test_the_main_choice_and_folded_ones_reach_the_run() -> None:
    app = open_page(variant="linear", feature_map="relu", n_heads="2", tab="code", seed="3")
    code = app.code[0].value
    assert "feature_map='relu'" in code
    assert "n_heads=2" in code
    assert "def feature_map" in app.code[1].value
    app.segmented_control(key="feature_map").set_value("exp").run()
    assert "feature_map='exp'" in app.code[0].value


@pytest.mark.parametrize(
    ("name", "main"),
    [
        ("scaled_dot_product", "head_dim"),
        ("multi_head", "n_heads"),
        ("grouped_query", "n_kv_heads"),
        ("linear", "feature_map"),
        ("kimi_delta", "gate"),
        ("mamba2", "n_heads"),
    ],
)
def test_a_variants_own_choice_is_in_sight(name: str, main: str) -> None:
    settings = settings_of(av.variants.find(name))
    assert settings[0].word == main
    assert len({setting.word for setting in settings}) == len(settings)


def test_another_variant_leaves_nothing_of_the_last_in_the_address() -> None:
    app = open_page(variant="linear", feature_map="relu")
    app.selectbox(key="variant").set_value("retention").run()
    assert not app.exception
    assert "feature_map" not in app.query_params
    assert app.query_params["variant"] in ("retention", ["retention"])


@pytest.mark.parametrize(
    "query", [{"variant": "no_such"}, {"head": "99", "layer": "0"}, {"t": "999"}, {"tab": "none"}]
)
def test_hostile_values_in_a_link_fall_back(query: dict[str, str]) -> None:
    assert "of head 0" in texts(open_page(**query))


def test_a_variant_with_a_state_shows_what_a_token_changed() -> None:
    app = open_page(variant="gated_delta_rule", tab="state", t="2")
    header, arrays = unpack(app.get("bidi_component")[1].proto.bytes)
    panel = {one["id"]: arrays[one["values"]] for one in header["panels"]}
    made = panel["kept"] - panel["erased"] + panel["written"]
    assert np.allclose(made, panel["after"], atol=1e-5)
    assert "Token 2" in texts(app)


def test_cross_attention_and_masks_where_they_apply() -> None:
    app = open_page(variant="multi_head", cross="true", mask="none", tab="code")
    assert "context=context" in app.code[0].value
    assert not [box for box in open_page(variant="mamba2").selectbox if box.key == "mask"]


def test_what_cannot_be_run_is_a_sentence() -> None:
    app = open_page(variant="lightning", layer_="90")
    assert any("layer must be at most n_layers" in text.value for text in app.text)


@pytest.mark.parametrize("name", ["multi_head", "delta_rule"])
def test_a_changed_control_is_answered_quickly_at_64_tokens(name: str) -> None:
    """The script alone; the browser adds its own share (tests/benchmarks/control_latency.py)."""
    app = open_page(variant=name, input="random", length="64")
    taken = []
    for seed in (1, 2, 3):
        begun = time.perf_counter()
        app.number_input(key="seed").set_value(seed).run()
        taken.append(time.perf_counter() - begun)
    assert min(taken) < 0.3, taken


@pytest.mark.parametrize("name", ["shifted_window", "object_query"])
def test_a_variant_made_for_pictures_begins_with_one(name: str) -> None:
    app = open_page(variant=name, tab="code", row="3", col="0")
    words = texts(app)
    assert "8 × 8 patches of 32 × 32 pixels" in words
    assert "av.image_inputs(av.pictures.shapes(seed=0), patch=32" in app.code[0].value
    assert ("object query 4, head 0" if name == "object_query" else "r0c3, head 0") in words
    assert not [box for box in app.selectbox if box.key == "mask" and "causal" in box.options]
    app.segmented_control(key="grid_input").set_value("text").run()
    assert "patches of" not in texts(app)
    assert not app.exception


def test_any_variant_takes_a_picture_and_an_uploaded_one_is_kept() -> None:
    app = open_page(variant="linear", input="picture", patches="4")
    assert any("Upload a PNG or JPEG" in text.value for text in app.text)
    pixels = np.random.default_rng(0).integers(0, 256, (128, 256, 3), dtype=np.uint8)
    app.session_state["own_picture"] = ("a", pixels)
    app.run()
    assert "2 × 4 patches of 64 × 64 pixels" in texts(app)
    app.selectbox(key="variant").set_value("object_query").run()
    app.segmented_control(key="grid_input").set_value("picture").run()
    assert "2 × 4 patches of 64 × 64 pixels" in texts(app)


def test_maps_of_channels_are_not_called_heads() -> None:
    app = open_page(variant="hyena", tab="steps", head="2", layer="0")
    header, arrays = unpack(app.get("bidi_component")[0].proto.bytes)
    assert header["grid"]["word"] == "channel"
    assert "channel" in header["alt"]
    assert "head" not in header["panels"][0]["title"]
    assert "Every step of channel 2" in texts(app)
    steps, numbers = unpack(app.get("bidi_component")[1].proto.bytes)
    (drawn,) = [numbers[one["values"]] for one in steps["panels"] if one["id"] == "weights"]
    stack = arrays[header["grid"]["stack"]].reshape(-1, *drawn.shape)
    assert np.array_equal(drawn, stack[2])
    header, _ = unpack(open_page(variant="linear").get("bidi_component")[0].proto.bytes)
    assert header["grid"]["word"] == "head"


def test_the_kernel_of_multi_token_attention_can_be_typed() -> None:
    app = open_page(variant="multi_token", tab="code", blend="0 0 0; 0 1 0")
    assert "parameters={'kernel_before': [[0.0, 0.0, 0.0], [0.0, 1.0, 0.0]]}" in app.code[0].value
    header, arrays = unpack(app.get("bidi_component")[0].proto.bytes)
    names: dict = {"head": 0}
    exec(compile(header["snippet"], "snippet", "exec"), names)
    shown = arrays[header["panels"][0]["values"]]
    assert np.array_equal(shown, names["trace"].weights[0, 0].numpy())
    app.text_input(key="blend").set_value("1 2; 3").run()
    assert any("rows of one length" in text.value for text in app.text)

"""The calculator's page: every mode, its sentences, and nothing lost on the way."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from attnviz import kv_cache as kv
from attnviz.kv_cache.words import readable
from attnviz.ui.page import CAUTIONS

ROOT = Path(__file__).parents[2]


def open_page(**query: object) -> AppTest:
    at = AppTest.from_file(str(ROOT / "attnviz/ui/shell.py"), default_timeout=60)
    at.run()
    for key, value in query.items():
        at.query_params[key] = str(value)
    at.session_state["more"] = True  # what is folded is open
    at.switch_page(str(ROOT / "pages/kv_cache.py")).run()
    assert not at.exception
    return at


def texts(at: AppTest) -> str:
    return "\n".join(element.value for element in [*at.text, *at.markdown, *at.code])


def metrics(at: AppTest) -> list[str]:
    return [metric.value for metric in at.metric]


def charts(at: AppTest) -> list[dict]:
    return [json.loads(chart.proto.spec) for chart in at.get("vega_lite_chart")]


def test_one_question_and_its_answer():
    at = open_page()
    assert [title.value for title in at.title] == ["How much memory does the cache take?"]
    assert metrics(at) == ["1.00 GiB", "0 bytes", "128 KiB"]
    assert at.metric[0].delta == "1,073,741,824 bytes"
    assert "Accounting: **theory**" in texts(at)
    assert "1 * (32 * 8 * (128 + 128) * 8192 * 2)\n= 1073741824 bytes" in texts(at)


def test_its_cautions():
    shown = texts(open_page())
    for key in ("equal_cache", "mla_not_gqa"):
        assert CAUTIONS[key] in shown
    assert "a server that stores whole pages" in shown


@pytest.mark.parametrize("slug", [spec.slug for spec in kv.presets()][::6])
def test_presets(slug: str):
    at = open_page(preset=slug, context=32768)
    z = kv.size(kv.preset(slug), 32768, encoder_length=512)
    parts = (z.total_bytes, z.fixed_bytes, z.bytes_per_token)
    assert metrics(at) == [readable(part) for part in parts]


def test_where_a_preset_comes_from():
    shown = texts(open_page(preset="deepseek-67b", tab="source"))
    assert "How sure: seen in source" in shown
    assert "often called a '67B MHA model'; it is GQA with 8 KV heads" in shown


def test_a_context_beyond_the_models_own_is_said():
    assert "Beyond the model's own 512 tokens" in texts(open_page(preset="t5-small", context=1024))
    assert "Beyond" not in texts(open_page(preset="t5-small", context=512))


def test_gqa_by_its_groups():
    at = open_page(design="GQA")
    groups = at.select_slider(key="kv")
    assert groups.label == "KV heads (groups)"
    assert groups.options == ["1", "2", "4", "8", "16", "32"]
    groups.set_value(2).run()
    assert at.metric[0].delta == f"{32 * 2 * 2 * 128 * 8192 * 2:,} bytes"


def test_mla_by_its_latent_and_rope():
    at = open_page(design="MLA")
    at.select_slider(key="latent").set_value(256)
    at.select_slider(key="rope").set_value(32).run()
    assert at.metric[0].delta == f"{32 * 288 * 8192 * 2:,} bytes"
    assert "As large as GQA with **1.125** groups" in texts(at)


def test_other_settings():
    at = open_page(design="GQA", batch=4, dtype="int4", layers=2, heads=16, head_dim=64, kv=4)
    assert at.metric[0].delta == f"{4 * 2 * 4 * 128 * 8192 // 2:,} bytes"
    at = open_page(preset="kimi-k3", state="bfloat16")
    assert at.metric[1].delta == f"{434_110_464 // 2 + 15_261_696:,} bytes"
    at = open_page(preset="t5-small", encoder=100, context=32)
    z = kv.size(kv.preset("t5-small"), 32, encoder_length=100)
    assert at.metric[0].delta == f"{z.total_bytes:,} bytes"


def test_what_fits():
    shown = texts(open_page(preset="llama-3.1-8b", memory=24, weights=15))
    assert "In 24 GiB: **73,728** tokens" in shown
    assert "or **9** such sequences" in shown
    assert "**no limit** tokens" in texts(open_page(preset="mistral-7b-v0.1"))


def test_groups_that_do_not_divide_lose_nothing():
    at = open_page(design="GQA", kv=8, context=5000, dtype="int8")
    at.number_input(key="heads").set_value(12).run()
    assert not at.exception
    assert not at.metric
    assert "8 KV heads (groups) do not share 12 query heads evenly" in texts(at)
    assert at.select_slider(key="kv").value == 8
    assert at.select_slider(key="context").value == 5000
    at.select_slider(key="kv").set_value(4).run()
    assert at.metric[0].delta == f"{32 * 4 * 256 * 5000:,} bytes"


def test_a_negative_context_loses_nothing():
    at = open_page(preset="gemma-3-1b", dtype="int8")
    at.number_input(key="_exact").set_value(-5).run()
    assert not at.exception
    assert "length (the context in tokens) must be at least 0, not -5." in texts(at)
    assert at.selectbox(key="preset").value == "gemma-3-1b"
    at.number_input(key="_exact").set_value(777).run()
    z = kv.size(kv.preset("gemma-3-1b"), 777, dtype="int8")
    assert at.metric[0].delta == f"{z.total_bytes:,} bytes"


@pytest.mark.parametrize("context", [10**12, 10**15])
def test_a_very_long_context_is_kept(context: int):
    at = open_page()
    at.number_input(key="_exact").set_value(context).run()
    assert not at.exception
    assert at.select_slider(key="context").value == context
    assert at.metric[0].delta == f"{131_072 * context:,} bytes"


def test_a_context_beyond_any_machine_is_refused_in_words():
    at = open_page()
    at.number_input(key="_exact").set_value(10**15 + 1).run()
    assert not at.exception
    sentence = "length (the context in tokens) must be at most 1,000,000,000,000,000, not 1,0"
    assert sentence in texts(at)


HUGE = {"context": 999_999_999_999, "batch": 65_536}


@pytest.mark.parametrize(
    "query", [{}, {"design": "MLA", "latent": 10**12 - 1, "rope": 10**12 - 1, "memory": 1}]
)
def test_more_bytes_than_64_bits_count(query: dict):
    at = open_page(tab="compare", **HUGE, **query)
    a_token = 32 * 2 * 10**12 * 2 - 64 * 2 if query else 131_072
    exact = f"{65_536 * 999_999_999_999 * a_token:,}"
    assert at.metric[0].delta == f"{exact} bytes"
    assert at.dataframe[0].value["total_bytes"][0] == exact
    assert len(charts(at)) == 2


@pytest.mark.parametrize(
    "query",
    [
        {"preset": "../../etc/passwd", "context": "<script>alert(1)</script>"},
        {"design": "GQA", "kv": "1e9", "heads": "-4", "layers": 10**12},
        {"context": "9" * 5000},
        {"dtype": "$\\infty$", "batch": "NaN", "memory": -1},
    ],
)
def test_hostile_links_show_the_defaults(query: dict):
    at = open_page(**query)
    assert metrics(at) == ["1.00 GiB", "0 bytes", "128 KiB"]


def test_an_encoder_keeps_nothing():
    at = open_page(preset="all-minilm-l6-v2")
    assert metrics(at)[0] == "0 bytes"
    assert "it keeps no cache" in texts(at)
    assert len(charts(at)) == 1


def test_charts_are_described():
    at = open_page(preset="kimi-k3")
    assert len(charts(at)) == 2
    assert all(spec["title"] for spec in charts(at))
    alternatives = [chart.proto.alt for chart in at.get("vega_lite_chart")]
    assert "Kimi K3" in alternatives[0]
    assert "93 layers" in alternatives[1]


def test_the_table_and_its_files():
    at = open_page(preset="kimi-k3", tab="compare")
    assert CAUTIONS["no_ranking"] in texts(at)
    table = at.dataframe[0].value
    assert table["design"].tolist() == ["Kimi K3 (2.8T)", "MHA", "GQA-8", "MQA", "MLA 512+64"]
    assert {button.proto.label for button in at.get("download_button")} == {"CSV", "JSON"}

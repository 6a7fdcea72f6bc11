"""The calculator's page: every mode, its sentences, and nothing lost on the way."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from attnviz import kv_cache as kv
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


def numbers(at: AppTest) -> list[str]:
    """Total, fixed and per token, as the unfolded numbers say them."""
    return [code.value.rsplit("\n= ", 1)[1] for code in at.code[:3]]


def sliders(at: AppTest) -> dict[str, dict]:
    """What the calculator's sliders were sent."""
    return {each["key"]: each for each in sent(at)["sliders"]}


def sent(at: AppTest) -> dict:
    return json.loads(at.get("bidi_component")[0].proto.json)


def let_go(at: AppTest, **values: int) -> AppTest:
    """As a slider does when it is let go: the page runs with its value."""
    for key, value in values.items():
        at.session_state[key] = value
    return at.run()


def charts(at: AppTest) -> list[dict]:
    return [json.loads(chart.proto.spec) for chart in at.get("vega_lite_chart")]


def test_one_question_and_its_answer():
    at = open_page()
    assert [title.value for title in at.title] == ["How much memory does the cache take?"]
    assert numbers(at) == ["1073741824", "0", "131072"]
    assert sent(at)["settings"]["accounting"] == "theory"
    assert sent(at)["groups"] == [{"kind": "full", "count": 32, "heads": 8, "dk": 128, "dv": 128}]
    assert "Accounting: **theory**" in texts(at)
    assert "1 * (32 * 8 * (128 + 128) * 8192 * 2)\n= 1073741824" in texts(at)


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
    assert numbers(at) == [str(part) for part in parts]
    assert len(sent(at)["order"]) == z.spec.n_layers


def test_where_a_preset_comes_from():
    shown = texts(open_page(preset="deepseek-67b", tab="source"))
    assert "How sure: seen in source" in shown
    assert "often called a '67B MHA model'; it is GQA with 8 KV heads" in shown


def test_a_context_beyond_the_models_own_is_said():
    assert "Beyond the model's own 512 tokens" in texts(open_page(preset="t5-small", context=1024))
    assert "Beyond" not in texts(open_page(preset="t5-small", context=512))


def test_gqa_by_its_groups():
    at = open_page(design="GQA")
    groups = sliders(at)["kv"]
    assert groups["label"] == "KV heads (groups)"
    assert groups["values"] == [1, 2, 4, 8, 16, 32]
    assert numbers(let_go(at, kv=2))[0] == str(32 * 2 * 2 * 128 * 8192 * 2)
    assert at.query_params["kv"] in ("2", ["2"])


def test_windows_among_full_layers():
    at = open_page(design="GQA", ratio=5, window=512, layers=12)
    a_token = 8 * 2 * 128 * 2
    assert numbers(at) == [str(a_token * n) for n in (10 * 512 + 2 * 8192, 10 * 512, 2)]
    assert sent(at)["shape"] == {"layers": 12, "heads": 32, "width": 128, "latent": False}


def test_mla_by_its_latent_and_rope():
    at = open_page(design="MLA")
    assert numbers(let_go(at, latent=256, rope=32))[0] == str(32 * 288 * 8192 * 2)
    assert "As large as GQA with **1.125** groups" in texts(at)
    let_go(at, ratio=3)
    assert numbers(at)[1] == str(24 * 32 * 128 * 128 * 4)


def test_other_settings():
    at = open_page(design="GQA", batch=4, dtype="int4", layers=2, heads=16, head_dim=64, kv=4)
    assert numbers(at)[0] == str(4 * 2 * 4 * 128 * 8192 // 2)
    at = open_page(preset="kimi-k3", state="bfloat16")
    assert numbers(at)[1] == str(434_110_464 // 2 + 15_261_696)
    at = open_page(preset="t5-small", encoder=100, context=32)
    z = kv.size(kv.preset("t5-small"), 32, encoder_length=100)
    assert numbers(at)[0] == str(z.total_bytes)


def test_what_fits():
    shown = texts(open_page(preset="llama-3.1-8b", memory=24, weights=15))
    assert "In 24 GiB beside 15 GiB of weights: **73,728** tokens" in shown
    assert "or **9** sequences of 8,192" in shown
    assert "**no limit** tokens" in texts(open_page(preset="mistral-7b-v0.1"))


def test_groups_that_do_not_divide_lose_nothing():
    at = open_page(design="GQA", kv=8, context=5000, dtype="int8")
    at.number_input(key="heads").set_value(12).run()
    assert not at.exception
    assert not at.get("bidi_component")
    assert "8 KV heads (groups) do not share 12 query heads evenly" in texts(at)
    assert at.select_slider(key="kv").value == 8
    assert at.select_slider(key="context").value == 5000
    at.select_slider(key="kv").set_value(4).run()
    assert numbers(at)[0] == str(32 * 4 * 256 * 5000)


def test_a_negative_context_loses_nothing():
    at = open_page(preset="gemma-3-1b", dtype="int8")
    at.number_input(key="_exact").set_value(-5).run()
    assert not at.exception
    assert "length (the context in tokens) must be at least 0, not -5." in texts(at)
    assert at.selectbox(key="preset").value == "gemma-3-1b"
    at.number_input(key="_exact").set_value(777).run()
    z = kv.size(kv.preset("gemma-3-1b"), 777, dtype="int8")
    assert numbers(at)[0] == str(z.total_bytes)


@pytest.mark.parametrize("context", [10**12, 10**15])
def test_a_very_long_context_is_kept(context: int):
    at = open_page()
    at.number_input(key="_exact").set_value(context).run()
    assert not at.exception
    assert sliders(at)["context"]["value"] == context
    assert numbers(at)[0] == str(131_072 * context)


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
    assert at.dataframe[0].value["total_bytes"][0] == exact
    assert at.dataframe[0].value["total_bytes"][0] == exact
    assert len(charts(at)) == 1


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
    assert numbers(at) == ["1073741824", "0", "131072"]


def test_an_encoder_keeps_nothing():
    at = open_page(preset="all-minilm-l6-v2")
    assert numbers(at) == ["0", "0", "0"]
    assert "it keeps no cache" in texts(at)


def test_charts_are_described():
    at = open_page(preset="kimi-k3", tab="compare", with1="llama-3-8b", with2="deepseek-v3")
    chart = at.get("vega_lite_chart")[0].proto
    assert chart.alt == (
        "Cache of Kimi K3 (2.8T) against context, beside Llama-3-8B, DeepSeek-V3 / R1 (671B)."
    )
    assert "Kimi K3 (2.8T) and Llama-3-8B change places at 4,3" in texts(at)
    at = open_page(tab="plane")
    assert "(512 + 64) / (2 * 128) = 2.25 groups" in texts(at)
    assert len(charts(at)) == 1


def test_the_table_and_its_files():
    at = open_page(preset="kimi-k3", tab="compare")
    assert CAUTIONS["no_ranking"] in texts(at)
    table = at.dataframe[0].value
    assert table["design"].tolist() == ["Kimi K3 (2.8T)", "MHA", "GQA-8", "MQA", "MLA 512+64"]
    assert {button.proto.label for button in at.get("download_button")} == {"CSV", "JSON"}


def test_the_other_accountings():
    at = open_page(preset="mistral-7b-v0.1", accounting="transformers")
    assert numbers(at)[0] == "536739840"
    assert at.code[3].value.endswith("= 1073741824")  # held, right after the prompt
    assert "A sliding layer keeps W − 1 tokens" in texts(at)
    at = open_page(preset="qwen3-30b-a3b", accounting="engine", tp=8)
    assert numbers(at)[2] == "24576"
    assert "a server's log shows other numbers" in texts(at)
    at = open_page(preset="llama-2-70b", accounting="engine", tp=3)
    assert "cannot be laid out on 3 GPUs" in texts(at)
    assert at.number_input(key="tp").value == 3


def test_a_pasted_config():
    config = {"model_type": "gemma3_text", "num_hidden_layers": 6, "num_attention_heads": 4}
    config |= {"num_key_value_heads": 1, "head_dim": 256, "sliding_window": 512}
    at = open_page(design="Config", config=json.dumps(config))
    assert numbers(at)[2] == "1024"
    for wrong, sentence in (
        ("{", "This is not JSON"),
        ('{"model_type": "marvin"}', "'marvin' is not known here"),
        ('{"model_type": "llama"}', "needs num_hidden_layers"),
    ):
        at.text_area(key="config").set_value(wrong).run()
        assert not at.exception
        assert sentence in texts(at)
        assert at.text_area(key="config").value == wrong
    at.text_area(key="config").set_value(json.dumps(config)).run()
    assert numbers(at)[2] == "1024"


def test_a_cache_really_allocated():
    at = open_page(preset="gpt-2-small", context=64, tab="measure", allocate="true")
    assert "predicted **2,359,296**, measured **2,359,296**: equal." in texts(at)


def test_where_the_percentage_is_from():
    at = open_page(tab="reduction")
    assert at.metric[0].value == "93.3%"
    at.selectbox(key="v2").set_value("float16").run()
    assert at.metric[0].value == "82.2%"
    at.selectbox(key="base").set_value(list(kv.BASELINES)[1]).run()
    assert at.metric[0].value == "97.8%"


def test_the_speed_of_light():
    at = open_page(preset="llama-2-70b", context=4096, tab="bound", read=130)
    seconds = (130 * 2**30 + 1_342_177_280) / 3.35e12
    assert at.metric[0].value == f"{1 / seconds:,.1f}"
    assert "Limited by **memory**" in texts(at)

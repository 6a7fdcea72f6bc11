"""Every preset against totals that were worked out apart from this code."""

import json
import re
from pathlib import Path

import pytest

from attnviz import kv_cache as kv
from attnviz.errors import AttnvizError

EXPECTED = json.loads(Path(__file__).with_name("expected_totals.json").read_text())
KIND = {"mla": "latent"}  # the file's word for it


def test_there_are_67_and_each_is_checked():
    assert [spec.slug for spec in kv.presets()] == list(EXPECTED)
    assert len(EXPECTED) == 67


@pytest.mark.parametrize("slug", EXPECTED)
def test_totals_equal_to_the_byte(slug: str):
    for length, total in EXPECTED[slug]["total_bytes_at_T_bf16_B1"].items():
        z = kv.size(kv.preset(slug), length=int(length), encoder_length=0)
        assert z.total_bytes == total, length


@pytest.mark.parametrize("slug", EXPECTED)
def test_parts_equal_too(slug: str):
    expected, spec = EXPECTED[slug], kv.preset(slug)
    far = kv.size(spec, length=10**7, encoder_length=0)  # beyond every window
    assert far.bytes_per_token == expected["bytes_per_token_growing_bf16"]
    held: dict[str, int] = {}
    for layer in far.by_layer:
        for name, size in layer.tensors:
            part = layer.kind if layer.kind == "sliding" else name
            held[part] = held.get(part, 0) + size
    assert held.get("sliding", 0) == expected["sliding_bytes_at_window_bf16"]
    assert held.get("state", 0) == expected["recurrent_state_bytes_fp32"]
    assert held.get("convolution", 0) == expected["conv_state_bytes_bf16_Kminus1"]
    assert far.fixed_bytes == sum(held.get(p, 0) for p in ("sliding", "state", "convolution"))


@pytest.mark.parametrize("slug", EXPECTED)
def test_layers_are_those_of_the_model(slug: str):
    expected, spec = EXPECTED[slug], kv.preset(slug)
    assert spec.n_layers == expected["n_layers"]
    counts = {KIND.get(kind, kind): n for kind, n in expected["layer_counts"].items()}
    assert {kind: n for kind, n in spec.counts.items() if kind != "cross"} == counts


@pytest.mark.parametrize("slug", [s for s, e in EXPECTED.items() if "cross_elems" in str(e)])
def test_cross_attention_follows_the_encoder(slug: str):
    spec = kv.preset(slug)
    without, some = (kv.size(spec, length=32, encoder_length=n).total_bytes for n in (0, 7))
    assert some - without == 2 * 7 * EXPECTED[slug]["cross_elems_per_encoder_token"]


def test_every_preset_says_where_it_comes_from():
    for spec in kv.presets():
        assert spec.provenance is not None
        assert spec.provenance.source
        assert spec.provenance.confidence
        assert spec.n_heads
        assert spec.head_dim
        assert spec.max_context


def test_the_file_of_presets_holds_no_totals():
    text = Path(kv.__file__).with_name("presets.json").read_text()
    numbers = {int(number) for number in re.findall(r"(?<=[\[ :])\d+(?=[,}\]])", text)}
    totals = {
        total for each in EXPECTED.values() for total in each["total_bytes_at_T_bf16_B1"].values()
    }
    assert not numbers & (totals - {0})


def test_an_unknown_name_gets_the_nearest():
    with pytest.raises(AttnvizError, match="no preset 'lama-2-7b': did you mean llama-2-7b"):
        kv.preset("lama-2-7b")
    with pytest.raises(AttnvizError, match="presets"):
        kv.preset("<script>" * 100)

"""Prediction against caches that transformers really allocates, nominal and held, to the byte."""

from typing import Any

import pytest
import torch
import transformers

from attnviz import kv_cache as kv
from attnviz.errors import AttnvizError
from tests.kv_cache.tiny_models import DECODERS, ENCODERS, OTHERS, SMALL, config

LENGTH = 40


def predicted(spec: kv.CacheSpec, decoded: int) -> tuple[int, int | None]:
    z = kv.size(spec, LENGTH, accounting="transformers", decoded=decoded, encoder_length=24)
    return z.total_bytes, z.held_bytes


@pytest.mark.parametrize("decoded", [0, 1])
@pytest.mark.parametrize("name", DECODERS)
def test_prediction_equals_measurement(name: str, decoded: int):
    spec = kv.CacheSpec.from_config(config(name))
    found = kv.allocate(spec, LENGTH, decoded=decoded, encoder_length=24)
    measured = found.measured.nominal_bytes, found.measured.held_bytes
    assert measured == predicted(spec, decoded)
    assert found.equal
    assert found.measured.nominal_bytes > 0


@pytest.mark.parametrize("kind", OTHERS)
def test_other_architectures_with_attention_alone(kind: str):
    made = getattr(transformers, kind)(**{**SMALL, **OTHERS[kind]})
    assert kv.allocate(kv.CacheSpec.from_config(made), LENGTH, decoded=1).equal


@pytest.mark.parametrize("kind", ENCODERS)
def test_encoders_keep_nothing(kind: str):
    spec = kv.CacheSpec.from_config(getattr(transformers, kind)(**ENCODERS[kind]))
    found = kv.allocate(spec, LENGTH, dtype="float32")
    assert found.equal
    assert found.measured.held_bytes == 0


@pytest.mark.parametrize(
    ("slug", "length", "nominal", "held"),
    [
        ("mistral-7b-v0.1", 8192, 536_739_840, 1_073_741_824),
        ("gpt-oss-20b", 4096, 103_784_448, 201_326_592),
        ("gemma-3-1b", 4096, 28_289_024, 109_051_904),
        ("deepseek-v2-lite", 4096, 127_401_984, 127_401_984),
        ("t5-small", 32, 6_684_672, 6_684_672),
    ],
)
def test_full_size_on_the_meta_device(slug: str, length: int, nominal: int, held: int):
    found = kv.allocate(kv.preset(slug), length, encoder_length=512)
    assert (found.measured.nominal_bytes, found.measured.held_bytes) == (nominal, held)
    assert found.equal


@pytest.mark.parametrize(
    ("slug", "length", "nominal"),
    [
        ("falcon-40b", 2048, 4_026_531_840),
        ("kimi-k3", 128, 457_998_336),
        ("minimax-text-01", 512, 167_772_160),
        ("bamba-9b", 256, 248_434_688),
        ("jamba-v0.1", 32, 17_039_360),
        ("qwen3-next-80b-a3b", 256, 84_148_224),
        ("deepseek-v3.2", 512, 43_974_656),
        ("gemma-3-27b", 8192, 1_106_870_272),
    ],
)
def test_what_was_measured_elsewhere_is_predicted(slug: str, length: int, nominal: int):
    """Full-size caches, measured once by hand: too slow to allocate at each test."""
    z = kv.size(kv.preset(slug), length, accounting="transformers")
    assert z.total_bytes == nominal
    assert z.accounting == "transformers"


def test_a_real_run_on_the_cpu_agrees_with_the_meta_device():
    model: Any = transformers.AutoModelForCausalLM.from_config(config("mistral")).eval()
    with torch.no_grad():
        out = model(input_ids=torch.zeros(1, LENGTH, dtype=torch.long), use_cache=True)
    real = kv.measure(out["cache"] if "cache" in out else out["past_key_values"])
    spec = kv.CacheSpec.from_config(config("mistral"))
    assert kv.allocate(spec, LENGTH, dtype="float32").measured == real


def test_after_the_first_step_the_window_is_held_once():
    spec = kv.preset("mistral-7b-v0.1")
    z = kv.size(spec, 8193, accounting="transformers", decoded=1)
    assert (z.total_bytes, z.held_bytes) == (536_739_840, 536_870_912)


@pytest.mark.parametrize(
    ("spec", "options", "sentence"),
    [
        (kv.preset("palm-540b"), {}, "is not known: it names no architecture"),
        (kv.grouped_query(2, 4, 2, 8), {}, "is not known: it names no architecture"),
        (kv.preset("llama-3-8b"), {"dtype": "int4"}, "allocates float32, .*, not int4"),
        (kv.preset("llama-3-8b"), {"decoded": 8}, "decoded must be below 8, not 8"),
    ],
)
def test_what_cannot_be_allocated_says_why(spec: kv.CacheSpec, options: Any, sentence: str):
    with pytest.raises(AttnvizError, match=sentence):
        kv.allocate(spec, 8, **options)

"""Theory against caches that transformers really allocates, walked tensor by tensor."""

from typing import Any

import pytest
import torch
import transformers

from attnviz import kv_cache as kv
from tests.kv_cache.tiny_models import config

LENGTH = 40


def run(config: Any, **inputs: Any) -> Any:
    torch.manual_seed(0)
    model = transformers.AutoModelForCausalLM.from_config(config).eval()
    ids = torch.zeros(1, LENGTH, dtype=torch.long)
    with torch.no_grad():
        out = model(input_ids=ids, use_cache=True, **inputs)
    return next(out[key] for key in ("cache", "past_key_values", "cache_params") if key in out)


@pytest.mark.parametrize(
    ("name", "expected"), [("llama", 30_720), ("deepseek_v3", 23_040), ("gpt_bigcode", 10_240)]
)
def test_bytes_known_beforehand(name: str, expected: int):
    spec = kv.CacheSpec.from_config(config(name))
    assert kv.size(spec, LENGTH, dtype="float32").total_bytes == expected
    assert kv.measure(run(config(name))).nominal_bytes == expected


def test_latents_are_what_is_stored():
    shapes = kv.measure(run(config("deepseek_v3"))).shapes
    assert shapes == ((1, 1, LENGTH, 32), (1, 1, LENGTH, 16)) * 3


def test_new_falcons_broadcast_before_they_cache():
    """A known difference: transformers stores every query head, theory the two KV heads."""
    new = transformers.FalconConfig(
        vocab_size=64,
        hidden_size=128,
        num_hidden_layers=2,
        num_attention_heads=8,
        num_kv_heads=2,
        new_decoder_architecture=True,
    )
    theory = kv.size(kv.CacheSpec.from_config(new), LENGTH, dtype="float32").total_bytes
    assert theory == 20_480
    assert kv.measure(run(new)).nominal_bytes == 4 * theory


@pytest.mark.parametrize(
    "config",
    [
        transformers.T5Config(
            vocab_size=64, d_model=32, d_kv=8, d_ff=32, num_layers=3, num_heads=4
        ),
        transformers.BartConfig(
            vocab_size=64,
            d_model=32,
            encoder_layers=1,
            decoder_layers=2,
            encoder_attention_heads=4,
            decoder_attention_heads=4,
            encoder_ffn_dim=32,
            decoder_ffn_dim=32,
        ),
    ],
    ids=["t5", "bart"],
)
def test_encoder_decoders(config: Any):
    model = transformers.AutoModelForSeq2SeqLM.from_config(config).eval()
    source, target = (torch.zeros(1, n, dtype=torch.long) for n in (24, 7))
    with torch.no_grad():
        out = model(input_ids=source, decoder_input_ids=target, use_cache=True)
    cache = out["cache"] if "cache" in out else out["past_key_values"]
    spec = kv.CacheSpec.from_config(config)
    theory = kv.size(spec, 7, dtype="float32", encoder_length=24).total_bytes
    assert kv.measure(cache).nominal_bytes == theory


def test_no_cache_is_no_bytes():
    assert kv.measure(None) == kv.Measured(0, 0, ())


def test_shared_storage_counts_once():
    base = torch.zeros(10, 4)
    cache = {"keys": [base[:5], base[5:]], "again": (base[:5],), "counter": torch.tensor(3)}
    assert kv.measure(cache).held_bytes == 160

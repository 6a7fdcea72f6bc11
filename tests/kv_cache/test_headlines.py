"""Numbers that the papers and reports print, worked out here from the formulas."""

import pytest

from attnviz import kv_cache as kv

GIB = 2**30


def per_token(slug: str, dtype: str = "bfloat16") -> float:
    return kv.size(kv.preset(slug), length=10**6, encoder_length=0, dtype=dtype).bytes_per_token


@pytest.mark.parametrize(
    ("slug", "expected"),
    [
        ("llama-2-70b", 327_680),
        ("falcon-40b", 122_880),
        ("llama-2-7b", 524_288),
        ("falcon-7b", 8_192),
        ("deepseek-67b", 389_120),
        ("deepseek-v2", 69_120),
        ("deepseek-v2-lite", 31_104),
        ("deepseek-v3", 70_272),
        ("deepseek-v3.2", 85_888),
        ("kimi-k3", 27_648),
        ("qwen3-next-80b-a3b", 24_576),
        ("jamba-v0.1", 16_384),
    ],
)
def test_bytes_per_token(slug: str, expected: int):
    assert per_token(slug) == expected


@pytest.mark.parametrize(
    ("v2_dtype", "old_dtype", "expected"),
    [
        ("int6", "float16", 0.9334),  # the report's 93.3 %
        ("float16", "float16", 0.8224),
        ("float8", "float16", 0.9112),
        ("int4", "float16", 0.9556),
        ("int6", "float8", 0.8668),
    ],
)
def test_deepseek_v2_against_67b(v2_dtype: str, old_dtype: str, expected: float):
    reduction = 1 - per_token("deepseek-v2", v2_dtype) / per_token("deepseek-67b", old_dtype)
    assert reduction == pytest.approx(expected, abs=5e-5)


def test_against_a_67b_that_never_was():
    mha = kv.size(kv.grouped_query(95, 64, 64, 128), length=1).bytes_per_token
    assert mha == 3_112_960
    assert 1 - per_token("deepseek-v2") / mha == pytest.approx(0.9778, abs=5e-5)
    assert 1 - per_token("deepseek-v2", "int6") / mha == pytest.approx(0.9917, abs=5e-5)


def test_mla_as_large_as_two_and_a_quarter_groups():
    assert kv.equal_groups(512, 64, 128) == 2.25


def test_expanded_keys_and_values_of_mla():
    latent = kv.size(kv.CacheSpec.from_layers([kv.Latent(512, 64)]), length=1).total_bytes
    spec = kv.CacheSpec.from_layers([kv.Full(128, 192, 128)])
    expanded = kv.size(spec, length=1).total_bytes
    assert expanded == 2 * 40_960
    assert expanded / latent == pytest.approx(71.1, abs=0.05)


def test_kimi_k3_at_a_million_tokens():
    k3 = kv.preset("kimi-k3")
    z = kv.size(k3, length=2**20)
    assert z.bytes_per_token * 2**20 == 27 * GIB
    assert z.fixed_bytes == 434_110_464 + 15_261_696
    mha, _gqa, _mqa, mla = kv.alternatives(k3)
    assert kv.size(mha, length=2**20).total_bytes == 4464 * GIB
    assert kv.size(mla, length=2**20).total_bytes == 104.625 * GIB
    # One KDA layer's state is as large as this many tokens of one latent layer.
    state = next(layer for layer in z.by_layer if layer.kind == "linear")
    assert dict(state.tensors)["state"] // 1152 == 5461


@pytest.mark.parametrize(
    ("slug", "length", "total"),
    [
        ("llama-2-70b", 4096, 1_342_177_280),
        ("mistral-7b-v0.1", 8192, 536_870_912),
        ("gemma-3-1b", 32_768, 139 * 2**20),
        ("gpt-oss-120b", 1, 73_728),
        ("all-minilm-l6-v2", 512, 0),
    ],
)
def test_totals_named_in_reports(slug: str, length: int, total: int):
    assert kv.size(kv.preset(slug), length=length).total_bytes == total


def test_llama_3_8b_takes_a_gibibyte_at_8192_tokens():
    """32 layers of 8 key-value heads of 128, two bytes a number; calculators that count all 32
    query heads, or multiply by them, are 4 or 8 times over."""
    assert per_token("llama-3-8b") == 2 * 32 * 8 * 128 * 2 == 131_072
    assert kv.size(kv.preset("llama-3-8b"), length=8192).total_bytes == 2**30


def test_gpt_oss_is_not_linear():
    """Half of its 24 layers see 128 tokens: what one token takes at 64 is no rate for 4,096."""
    short, long = (kv.size(kv.preset("gpt-oss-20b"), length=n).total_bytes for n in (64, 4096))
    layer = 2 * 8 * 64 * 2  # keys and values of a token
    assert short == 24 * layer * 64 == 3_145_728
    assert long == 12 * layer * (4096 + 128) == 103_809_024
    assert long < 0.52 * short * 4096 / 64

"""A serving engine's bytes, worked by hand."""

from typing import Any

import pytest

from attnviz import kv_cache as kv
from attnviz.errors import AttnvizError


def engine(spec: str | kv.CacheSpec, length: int, **options: Any) -> kv.Size:
    made = kv.preset(spec) if isinstance(spec, str) else spec
    return kv.size(made, length, accounting="engine", **options)


@pytest.mark.parametrize(
    ("slug", "ranks", "dtype", "a_token"),
    [
        ("qwen3-30b-a3b", 8, "bfloat16", 24_576),  # 4 KV heads on 8 GPUs: each keeps one
        ("llama-2-70b", 16, "bfloat16", 40_960),
        ("llama-2-70b", 8, "bfloat16", 40_960),
        ("deepseek-v3", 8, "bfloat16", 70_272),  # the latent is on every rank
        ("deepseek-v3", 1, "bfloat16", 70_272),
        ("deepseek-v3", 1, "float8", 61 * 656),  # 512 + 4 scales of 4 bytes + 2 * 64
        ("llama-2-70b", 8, "float8", 20_480),
    ],
)
def test_bytes_a_token_on_each_gpu(slug: str, ranks: int, dtype: str, a_token: int):
    z = engine(slug, 4096, tensor_parallel=ranks, dtype=dtype)
    assert z.bytes_per_token == a_token
    assert z.total_bytes == 4096 * a_token  # 4,096 is a whole number of pages


def test_pages_are_rounded_up():
    """100 tokens in pages of 16 are 7 pages, 112 tokens: 2 layers x 7 x 16 x 4 x 64 x 2 bytes."""
    spec = kv.grouped_query(2, 4, 2, 32)
    assert engine(spec, 100).total_bytes == 2 * 7 * 16 * 2 * (32 + 32) * 2 == 57_344
    assert kv.size(spec, 100).total_bytes == 51_200
    assert engine(spec, 97, batch=3).total_bytes == 3 * 57_344
    assert engine(spec, 96).total_bytes == 49_152


def test_a_small_window_takes_far_more_than_itself():
    """W = 128 and 8,192 tokens a step: ceil(min(127 + 8192, 4096) / 16) + 1 = 257 pages."""
    spec = kv.CacheSpec.from_layers([kv.Sliding(8, 64, window=128)])
    page = 16 * 8 * 128 * 2
    assert engine(spec, 4096).total_bytes == 257 * page
    assert engine(spec, 4096, max_batched_tokens=256).total_bytes == 25 * page
    assert engine(spec, 4096, max_batched_tokens=256).bytes_per_token == 0


def test_states_are_shared_out_over_the_ranks():
    """The posted log of Kimi K3 on 16 GPUs: 254.6 MB a request of 8,192 tokens, unpadded."""
    z = engine("kimi-k3", 8192, tensor_parallel=16)
    assert z.total_bytes == 24 * 8192 * 1152 + 69 * (6 * 128 * 128 * 4 + 3 * 6 * 128 * 3 * 2)
    assert z.total_bytes == pytest.approx(254.6e6, rel=1e-3)


def test_a_cross_layer_pages_the_encoder():
    spec = kv.CacheSpec.from_layers([(kv.Full(1, 8), kv.Cross(1, 8))])
    assert engine(spec, 16, encoder_length=17).total_bytes == 3 * 16 * 16 * 2


@pytest.mark.parametrize(
    ("slug", "options", "sentence"),
    [
        ("llama-2-70b", {"tensor_parallel": 3}, "8 KV heads .* cannot be laid out on 3 GPUs"),
        ("kimi-k3", {"tensor_parallel": 7}, "96 states cannot be shared out over 7 GPUs"),
        ("bamba-9b", {"tensor_parallel": 2}, "groups that this spec does not hold"),
        ("llama-2-70b", {"block_size": 0}, "block_size must be at least 1, not 0"),
        ("llama-2-70b", {"dtype": "int4"}, "Engines keep a cache in float32, .*, not int4"),
    ],
)
def test_layouts_that_there_are_not(slug: str, options: dict[str, Any], sentence: str):
    with pytest.raises(AttnvizError, match=sentence):
        engine(slug, 100, **options)

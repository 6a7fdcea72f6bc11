"""The bound, worked by hand."""

import pytest

from attnviz import kv_cache as kv
from attnviz.errors import AttnvizError

H100 = {"bandwidth": 3_350_000_000_000, "flops": 989_000_000_000_000}


def test_llama_70b_at_4096_tokens():
    """140 GB of weights and 1.342 GB of cache over 3.35 TB/s: 42.19 ms, 23.70 tokens a second."""
    cache = kv.size(kv.preset("llama-2-70b"), 4096).total_bytes
    bound = kv.decoding_bound(
        weights_bytes=140 * 10**9,
        cache_bytes_per_sequence=cache,
        batch=1,
        parameters=70 * 10**9,
        **H100,
    )
    assert bound.bytes_per_step == 141_342_177_280
    assert bound.tokens_per_second == pytest.approx(3.35e12 / 141_342_177_280)
    assert bound.tokens_per_second == pytest.approx(23.70, abs=0.005)
    assert bound.limited_by == "memory"


def test_smollm2_and_where_compute_takes_over():
    """Without a cache: 2 * 134.5e6 / 989e12 s a sequence against 269e6 / 3.35e12 s a step."""
    given = {"weights_bytes": 269_000_000, "parameters": 134_500_000, **H100}
    bound = kv.decoding_bound(cache_bytes_per_sequence=0, batch=1, **given)
    assert bound.tokens_per_second == pytest.approx(3.35e12 / 269e6)
    # 269e6 / 3.35e12 * 989e12 / 269e6 = 295.2: from 296 sequences on
    assert bound.compute_from_batch == 296
    at = {n: kv.decoding_bound(cache_bytes_per_sequence=0, batch=n, **given) for n in (295, 296)}
    assert (at[295].limited_by, at[296].limited_by) == ("memory", "compute")
    assert at[296].tokens_per_second == pytest.approx(989e12 / 269e6)


def test_a_large_cache_never_lets_compute_take_over():
    bound = kv.decoding_bound(
        weights_bytes=10**9, cache_bytes_per_sequence=10**9, batch=64, parameters=10**8, **H100
    )
    assert bound.compute_from_batch is None
    assert bound.tokens_per_second == pytest.approx(64 * 3.35e12 / 65e9)


def test_nothing_to_read_is_no_bound():
    with pytest.raises(AttnvizError, match="reads no bytes"):
        kv.decoding_bound(
            weights_bytes=0, cache_bytes_per_sequence=0, batch=1, parameters=1, **H100
        )

"""What fits, against trying every length."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attnviz import kv_cache as kv
from attnviz.errors import AttnvizError
from tests.kv_cache.specs import DTYPES, SPECS

# beartype looks at a random item of each tuple, in strategies too.
pytestmark = pytest.mark.filterwarnings("ignore:Do not use the `random` module")


@given(SPECS, st.integers(0, 3000), st.integers(0, 500), st.integers(1, 3), DTYPES)
@settings(max_examples=150, deadline=None)
def test_the_longest_context_by_trying_all(spec, memory, weights, batch, dtype):
    options = {"dtype": dtype, "encoder_length": 2}
    room = kv.longest_context(spec, memory, weights_bytes=weights, batch=batch, **options)
    free = memory - weights

    def fits(length: int) -> bool:
        return kv.size(spec, length, batch, **options).total_bytes <= free

    if room.count is None:
        assert fits(10**9)
    elif room.count == 0 and not fits(0):
        assert room.used_bytes == 0
    else:
        assert fits(room.count)
        assert not fits(room.count + 1)
        assert room.used_bytes == kv.size(spec, room.count, batch, **options).total_bytes


@given(SPECS, st.integers(0, 10**6), st.integers(0, 400), DTYPES)
@settings(max_examples=100, deadline=None)
def test_the_most_sequences(spec, memory, length, dtype):
    options = {"length": length, "dtype": dtype, "encoder_length": 2}
    room = kv.most_sequences(spec, memory, **options)
    if room.count is None:
        assert kv.size(spec, **options).total_bytes == 0
        return
    if room.count:
        assert kv.size(spec, batch=room.count, **options).total_bytes <= memory
    assert kv.size(spec, batch=room.count + 1, **options).total_bytes > memory


def test_not_linear_a_window_that_fills_up():
    spec = kv.CacheSpec.from_layers([kv.Sliding(1, 1, window=100), kv.Full(1, 1)])
    # 8 bytes a token until 100 tokens, then 4: 800 + 4 * 50.
    assert kv.longest_context(spec, 1000).count == 150
    assert kv.longest_context(spec, 799).count == 99


def test_no_limit():
    mistral, gib = kv.preset("mistral-7b-v0.1"), kv.gib
    assert kv.longest_context(mistral, gib(1)).count is None
    assert kv.longest_context(mistral, gib(0.25)).count == 2048
    encoder = kv.preset("all-minilm-l6-v2")
    assert kv.longest_context(encoder, 0).count is None
    assert kv.most_sequences(encoder, 0, length=512).count is None


def test_weights_that_leave_nothing():
    room = kv.longest_context(kv.preset("llama-3-8b"), kv.gib(8), weights_bytes=kv.gib(15))
    assert room.count == 0
    assert "weights take 16,106,127,360 bytes" in room.reason


def test_a_fixed_part_that_does_not_fit():
    room = kv.longest_context(kv.preset("kimi-k3"), 10**8)
    assert room.count == 0
    assert "fixed part alone takes 449,372,160 bytes" in room.reason


def test_gib_is_exact():
    assert kv.gib("23.6") == int(236 * 2**30 / 10)
    assert kv.gib(80) == 80 * 2**30
    for bad in (-1, "nan", "a lot", "inf", 1e30):
        with pytest.raises(AttnvizError, match="Memory must be"):
            kv.gib(bad)


@pytest.mark.parametrize("accounting", ["transformers", "engine"])
@pytest.mark.parametrize("slug", ["gpt-oss-20b", "kimi-k3", "mistral-7b-v0.1"])
def test_in_other_accountings(slug: str, accounting: str):
    spec, free = kv.preset(slug), kv.gib(2)
    room = kv.longest_context(spec, free, accounting=accounting)
    if room.count is None:
        assert kv.size(spec, 10**9, accounting=accounting).total_bytes <= free
    else:
        at = [kv.size(spec, room.count + n, accounting=accounting).total_bytes for n in (0, 1)]
        assert at[0] <= free < at[1]

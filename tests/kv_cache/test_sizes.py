"""What holds for the size of any spec."""

from fractions import Fraction
from math import ceil

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attnviz import kv_cache as kv
from attnviz.errors import AttnvizError
from tests.kv_cache.specs import DTYPES, SPECS

# beartype looks at a random item of each tuple, in strategies too.
pytestmark = pytest.mark.filterwarnings("ignore:Do not use the `random` module")

LENGTHS = st.integers(0, 700)


@given(SPECS, LENGTHS, st.integers(1, 9), DTYPES, DTYPES, st.integers(0, 50))
@settings(max_examples=200, deadline=None)
def test_parts_add_up(spec, length, batch, dtype, state_dtype, source):
    z = kv.size(spec, length, batch, dtype, state_dtype, source)
    assert sum(layer.total_bytes for layer in z.by_layer) == z.total_bytes
    assert sum(layer.fixed_bytes for layer in z.by_layer) == z.fixed_bytes
    assert sum(layer.bytes_per_token for layer in z.by_layer) == z.bytes_per_token
    assert sum(size for each in z.by_layer for _, size in each.tensors) == z.sequence_bytes
    assert z.total_bytes == batch * z.sequence_bytes
    tensors = sum(len(each.tensors) for each in z.by_layer)
    exact = z.fixed_bytes + Fraction(z.bytes_per_token) * length
    assert 0 <= z.sequence_bytes - exact < max(tensors, 1)  # rounded up by under a byte a tensor


@given(SPECS, LENGTHS, DTYPES)
@settings(max_examples=100, deadline=None)
def test_one_more_token_never_takes_less(spec, length, dtype):
    now, then = (kv.size(spec, n, dtype=dtype, encoder_length=3) for n in (length, length + 1))
    assert then.total_bytes >= now.total_bytes
    if dtype in ("float32", "bfloat16", "float16", "float8", "int8"):
        assert then.total_bytes - now.total_bytes == now.bytes_per_token


@pytest.mark.parametrize(
    ("dtype", "bits"),
    [
        ("float32", 32),
        ("bfloat16", 16),
        ("float16", 16),
        ("float8", 8),
        ("int8", 8),
        ("int6", 6),
        ("int4", 4),
    ],
)
def test_widths(dtype: str, bits: int):
    spec = kv.CacheSpec.from_layers([kv.Full(3, 5, 7)])
    z = kv.size(spec, length=3, dtype=dtype)
    assert z.total_bytes == ceil(3 * 3 * 5 * bits / 8) + ceil(3 * 3 * 7 * bits / 8)
    assert z.bytes_per_token == 36 * bits / 8


def test_state_has_a_dtype_of_its_own():
    spec = kv.CacheSpec.from_layers([kv.Linear((2, 3, 4), conv_channels=10, conv_kernel=4)])
    assert kv.size(spec, length=5).total_bytes == 24 * 4 + 30 * 2
    z = kv.size(spec, length=5, dtype="float32", state_dtype="bfloat16")
    assert z.total_bytes == 24 * 2 + 30 * 4


def test_a_window_stops_growing_when_full():
    spec = kv.CacheSpec.from_layers([kv.Sliding(2, 8, window=16)])
    before, full, after = (kv.size(spec, n) for n in (15, 16, 99))
    assert (before.fixed_bytes, before.bytes_per_token) == (0, 64)
    assert (full.fixed_bytes, full.bytes_per_token) == (16 * 64, 0)
    assert after.total_bytes == full.total_bytes


def test_two_mixers_of_one_layer():
    both = (kv.Full(2, 8), kv.Linear((2, 8, 8)))
    spec = kv.CacheSpec.from_layers([both, kv.Full(2, 8), both])
    assert spec.n_layers == 3
    assert [layer.index for layer in kv.size(spec, 4).by_layer] == [0, 0, 1, 2, 2]


LLAMA = kv.preset("llama-3-8b")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"length": -1}, r"length \(the context in tokens\) must be at least 0, not -1"),
        ({"length": 10**30}, "must be at most"),
        ({"batch": 0}, "batch must be at least 1, not 0"),
        ({"dtype": "fp4"}, "Expected a dtype among float32, .*, not 'fp4'"),
        ({"state_dtype": ""}, "Expected a dtype among"),
        (
            {"accounting": "guess"},
            "Expected accounting theory, .* or engine, not 'g",
        ),
        ({"encoder_length": -2}, "encoder_length must be at least 0"),
    ],
)
def test_bad_arguments_get_a_sentence(change: dict, sentence: str):
    with pytest.raises(AttnvizError, match=sentence):
        kv.size(LLAMA, **({"length": 8} | change))


def test_an_encoder_decoder_asks_for_the_encoders_length():
    with pytest.raises(AttnvizError, match=r"T5-small .* pass encoder_length"):
        kv.size(kv.preset("t5-small"), length=32)
    z = kv.size(kv.preset("t5-small"), length=32, encoder_length=512)
    assert z.total_bytes == 6_684_672

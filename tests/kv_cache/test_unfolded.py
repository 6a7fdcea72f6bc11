"""Each number's arithmetic gives that number."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attnviz import kv_cache as kv
from attnviz.errors import AttnvizError
from tests.kv_cache.specs import DTYPES, SPECS
from tests.kv_cache.test_formulas import evaluate

pytestmark = pytest.mark.filterwarnings("ignore:Do not use the `random` module")


@given(SPECS, st.integers(0, 700), st.integers(1, 9), DTYPES, st.integers(0, 50))
@settings(max_examples=100, deadline=None)
def test_theory(spec, length, batch, dtype, source):
    for number in kv.unfold(kv.size(spec, length, batch, dtype, encoder_length=source)):
        assert evaluate(number.expression) == number.value, number
    assert len(kv.unfold(kv.size(spec, 1, encoder_length=1))) == 3


@pytest.mark.parametrize("accounting", ["theory", "transformers", "engine"])
@pytest.mark.parametrize("slug", ["mistral-7b-v0.1", "kimi-k3", "deepseek-v3.2", "t5-small"])
def test_each_accounting(slug: str, accounting: str):
    z = kv.size(kv.preset(slug), 5000, 2, accounting=accounting, encoder_length=9)
    numbers = kv.unfold(z)
    assert len(numbers) == (4 if accounting == "transformers" else 3)
    for number in numbers:
        assert evaluate(number.expression) == number.value, number
        assert number.source


def test_what_fits():
    spec = kv.preset("gemma-3-1b")
    z, free = kv.size(spec, 4096), kv.gib(4)
    longest, users = kv.longest_context(spec, free), kv.most_sequences(spec, free, length=4096)
    sequences, context = kv.unfold_room(longest, users, z, free)
    assert sequences.expression == f"{free} // {z.total_bytes}"
    assert sequences.value == free // z.total_bytes == users.count
    left, right = kv.context_arithmetic(longest, z).split(" <= ")
    assert evaluate(left) == longest.used_bytes <= int(right) == free
    assert kv.context_arithmetic(kv.longest_context(spec, 0), z) == ""
    assert evaluate(context.expression) == context.value == longest.used_bytes <= free
    more = kv.size(spec, longest.count + 1).total_bytes
    assert f"{more:,}" in context.source
    assert more > free


def test_a_state_is_overtaken_by_a_cache():
    """96 x 128 x 128 x 4 bytes against 1,152 a token: 5,461.3 tokens, so from 5,462 on."""
    state = kv.CacheSpec.from_layers([kv.Linear((96, 128, 128))])
    latent = kv.CacheSpec.from_layers([kv.Latent(512, 64)])
    like = kv.size(latent, 1)
    assert kv.crossing(state, latent, like) == kv.crossing(latent, state, like) == 5462
    assert kv.crossing(latent, latent, like) is None
    assert kv.crossing(kv.grouped_query(1, 8, 8, 64), latent, like) is None


@pytest.mark.parametrize(
    ("ours", "baseline", "theirs", "saved"),
    [
        ("int6", 0, "float16", 93.34),
        ("float16", 0, "float16", 82.24),
        ("int8", 0, "float16", 91.12),
        ("int4", 0, "float16", 95.56),
        ("int6", 0, "int8", 86.68),
        ("float16", 1, "float16", 97.78),
        ("int6", 1, "float16", 99.17),
        ("float16", 2, "float16", 98.24),
        ("float16", 3, "float16", 98.59),
    ],
)
def test_where_the_percentages_come_from(ours: str, baseline: int, theirs: str, saved: float):
    found = kv.reduction(ours, list(kv.BASELINES)[baseline], theirs)
    assert round(100 * found.saved, 2) == saved
    assert float(evaluate(found.expression)) == pytest.approx(found.saved)


def test_only_six_bits_give_the_reports_figure():
    assert {d for d in kv.DTYPES if f"{kv.reduction(d).saved:.1%}" == "93.3%"} == {"int6"}
    mha = list(kv.BASELINES)[1]
    assert not [d for d in kv.DTYPES if f"{kv.reduction(d, mha).saved:.1%}" == "93.3%"]
    with pytest.raises(AttnvizError, match="Expected a baseline among"):
        kv.reduction("int6", "nothing")

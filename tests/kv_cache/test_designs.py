"""Designs of one's own, and a model's shape with other kinds of attention."""

import pytest

from attnviz import kv_cache as kv
from attnviz.errors import AttnvizError


def total(spec: kv.CacheSpec) -> int:
    return kv.size(spec, length=1000, encoder_length=10).total_bytes


def test_groups_scale_the_cache():
    mha, gqa, mqa = (kv.grouped_query(4, 32, n, 64) for n in (32, 8, 1))
    assert (mha.name, gqa.name, mqa.name) == ("MHA", "GQA-8", "MQA")
    assert total(mha) == 4 * total(gqa) == 32 * total(mqa)


@pytest.mark.parametrize(("heads", "groups"), [(32, 5), (9, 2), (8, 16)])
def test_groups_that_do_not_divide(heads: int, groups: int):
    with pytest.raises(
        AttnvizError,
        match=rf"{groups} KV heads \(groups\) do not share {heads} query heads evenly",
    ):
        kv.grouped_query(4, heads, groups, 64)


def test_no_heads_or_layers():
    with pytest.raises(AttnvizError, match="The number of heads must be at least 1"):
        kv.grouped_query(4, 0, 1, 64)
    with pytest.raises(AttnvizError, match="The number of layers must be at least 1"):
        kv.latent_attention(0, 8, 64, 512, 64)


def test_absurd_counts_are_refused_before_they_take_memory_or_time():
    with pytest.raises(AttnvizError, match="The number of layers must be at most 10,000, not 1,0"):
        kv.grouped_query(10**12, 32, 8, 128)
    with pytest.raises(AttnvizError, match="The number of layers must be at most 10,000"):
        kv.latent_attention(10**12, 32, 128, 512, 64)
    with pytest.raises(AttnvizError, match="The number of heads must be at most 100,000"):
        kv.grouped_query(4, 10**12, 7, 128)
    with pytest.raises(AttnvizError, match="The number of heads must be at most 100,000"):
        kv.divisors(10**12)
    config = {"model_type": "llama", "num_hidden_layers": 10**12, "num_attention_heads": 8}
    with pytest.raises(AttnvizError, match="num_hidden_layers of this llama config must be at"):
        kv.CacheSpec.from_config({**config, "hidden_size": 64})


def test_latent_does_not_depend_on_the_heads():
    assert total(kv.latent_attention(4, 8, 64, 512, 64)) == total(
        kv.latent_attention(4, 128, 64, 512, 64)
    )


@pytest.mark.parametrize(
    ("slug", "names"),
    [
        ("llama-3-8b", ["MHA", "GQA-8", "MQA", "MLA 512+64"]),
        ("smollm2-135m", ["MHA", "GQA-3", "MQA", "MLA 256+32"]),
        ("falcon-7b", ["MHA", "MQA", "MLA 256+32"]),  # 71 heads: a prime number
        ("t5-small", ["MHA", "GQA-4", "MQA"]),
        ("all-minilm-l6-v2", []),
    ],
)
def test_alternatives(slug: str, names: list[str]):
    spec = kv.preset(slug)
    others = kv.alternatives(spec)
    assert [other.name for other in others] == names
    assert all(other.n_layers == spec.n_layers for other in others)


def test_a_model_is_its_own_alternative():
    assert total(kv.preset("llama-2-7b")) == total(kv.alternatives(kv.preset("llama-2-7b"))[0])
    assert total(kv.preset("deepseek-v3")) == total(kv.alternatives(kv.preset("deepseek-v3"))[-1])
    assert total(kv.preset("t5-small")) == total(kv.alternatives(kv.preset("t5-small"))[0])

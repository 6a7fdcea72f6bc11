"""How stacks are written down, and what they keep."""

from __future__ import annotations

import pytest

import attnviz as av
from attnviz.hybrid import PRESETS, Pattern, cache_of, preset
from attnviz.hybrid.patterns import linear_mixers

WRITTEN = {
    "LLLF": "LLLF",
    "3L F": "LLLF",
    "3l + 1f": "LLLF",
    "2L, F, L": "LLFL",
    "f": "F",
}


@pytest.mark.parametrize(("written", "letters"), WRITTEN.items())
def test_writing(written: str, letters: str) -> None:
    assert Pattern.of(written).letters == letters


def test_repeated_until_there_are_enough() -> None:
    assert Pattern.of("3L F", n_layers=10).letters == "LLLFLLLFLL"


BAD = {
    "": "written with the letters L",
    "LXF": "written with L .* received 'LXF'",
    "3": "written with L",
    "0L": "written with the letters",
    "999L": "at most 128 layers here; received 999",
    "1000000000000L": "written with L",
}


@pytest.mark.parametrize(("written", "sentence"), BAD.items())
def test_what_is_no_stack_is_told(written: str, sentence: str) -> None:
    with pytest.raises(av.AttnvizError, match=sentence):
        Pattern.of(written)


@pytest.mark.parametrize("n_layers", [0, 129, True])
def test_bad_numbers_of_layers_are_told(n_layers: int) -> None:
    with pytest.raises(av.AttnvizError, match="whole number from 1 to 128"):
        Pattern.of("LF", n_layers=n_layers)


def test_mixers_are_checked() -> None:
    with pytest.raises(av.AttnvizError, match=r"linear must be one of .*; received 'multi_head'"):
        Pattern("LF", linear="multi_head")
    with pytest.raises(av.AttnvizError, match=r"full must be one of .*; received 'linear'"):
        Pattern("LF", full="linear")
    assert "kimi_delta" in linear_mixers()


# Layers with a state, layers with a cache, the places of the latter counted from 1: the models'
# papers and configs.
ORDER = {
    "kimi-k3": (69, 24, [*range(4, 93, 4), 93]),
    "kimi-linear-48b-a3b": (20, 7, [4, 8, 12, 16, 20, 24, 27]),
    "qwen3-next-80b-a3b": (36, 12, [*range(4, 49, 4)]),
    "minimax-text-01": (70, 10, [*range(8, 81, 8)]),
    "jamba-v0.1": (28, 4, [5, 13, 21, 29]),
}


@pytest.mark.parametrize("slug", PRESETS)
def test_presets_have_their_models_order(slug: str) -> None:
    pattern, (states, caches, places) = preset(slug), ORDER[slug]
    assert (pattern.letters.count("L"), pattern.letters.count("F")) == (states, caches)
    assert [i + 1 for i, letter in enumerate(pattern.letters) if letter == "F"] == places


def test_ratio() -> None:
    assert preset("qwen3-next-80b-a3b").ratio == "3:1"
    assert preset("kimi-k3").ratio == "23:8"
    assert Pattern("FF").ratio == "0:1"


def test_unknown_presets_are_told() -> None:
    with pytest.raises(av.AttnvizError, match="no stack 'gpt-5'; known are kimi-k3"):
        preset("gpt-5")


@pytest.mark.parametrize("full", ["grouped_query", "multi_head", "latent"])
@pytest.mark.parametrize("linear", linear_mixers())
def test_sizes_are_those_of_what_a_decoder_holds(linear: str, full: str) -> None:
    pattern = Pattern("LFL", linear, full)
    given = {"n_heads": 4, "n_kv_heads": 2, "head_dim": 8}
    sizes = {"d_model": 16, **given}
    decoder = av.hybrid.Decoder.of(pattern, 16, **given)
    x = av.random_inputs(5, 16).embeddings.float()
    for t in range(5):
        decoder.step(x[:, t : t + 1])
    told = av.kv_cache.size(cache_of(pattern, sizes), length=5, dtype="float32")
    assert tuple(layer.total_bytes for layer in told.by_layer) == decoder.kept_bytes

"""The curve of the cache: valid Vega-Lite, with titles and units, drawing what size() says."""

from __future__ import annotations

from itertools import pairwise

import altair as alt
import pytest

from attnviz import kv_cache as kv
from attnviz.errors import AttnvizError
from attnviz.figures import kv_cache as figures

SLUGS = ["llama-3.1-8b", "mistral-7b-v0.1", "gemma-3-27b", "deepseek-v3.2", "kimi-k3", "t5-small"]


def sized(slug: str, length: int = 8192) -> kv.Size:
    return kv.size(kv.preset(slug), length, encoder_length=64)


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("slug", SLUGS)
def test_altair_finds_the_spec_valid(slug: str, dark: bool):
    z = sized(slug)
    growth = figures.growth(z, kv.alternatives(z.spec), dark=dark)
    alt.LayerChart.from_dict(growth).to_dict()


def test_titles_and_units():
    z = sized("llama-3.1-8b")
    growth = figures.growth(z, kv.alternatives(z.spec))
    assert growth["title"]["text"] == "Cache against context"
    axes = growth["layer"][1]["encoding"]
    assert axes["x"]["title"] == "Context in tokens (log scale, K = 1,024)"
    assert axes["y"]["title"] == "Cache in bytes (log scale)"


@pytest.mark.parametrize("slug", SLUGS)
def test_curves_are_sizes(slug: str):
    z = sized(slug)
    others = kv.alternatives(z.spec)
    specs = {spec.name: spec for spec in (z.spec, *others)}
    drawn = figures.points([z.spec, *others], z)
    assert {point.design for point in drawn} == set(specs)
    for point in drawn[::7]:
        again = kv.size(specs[point.design], point.tokens, encoder_length=64)
        assert point.bytes == again.total_bytes


def test_a_curve_bends_where_the_window_is_full():
    z = sized("mistral-7b-v0.1")
    curve = {point.tokens: point.bytes for point in figures.points([z.spec], z)}
    assert 4096 in curve
    assert len({size for tokens, size in curve.items() if tokens >= 4096}) == 1
    assert curve[256] < curve[2048] < curve[4096]


def test_the_chosen_context_is_marked():
    z = sized("llama-3.1-8b", 5000)
    assert figures.growth(z, [])["datasets"]["here"] == [{"tokens": 5000, "bytes": z.total_bytes}]
    assert figures.growth(sized("llama-3.1-8b", 0), [])["datasets"]["here"] == []


def test_names_do_not_touch():
    z = sized("kimi-k3")
    names = figures.growth(z, kv.alternatives(z.spec))["datasets"]["names"]
    heights = sorted(name["bytes"] for name in names)
    assert len(names) == 5
    ratios = [high / low for low, high in pairwise(heights)]
    assert min(ratios) > 1.5
    assert all(len(name["name"]) <= 14 for name in names)


def test_long_names_leave_room_for_the_curve():
    z = sized("kimi-linear-48b-a3b")
    names = figures.growth(z, [])["datasets"]["names"]
    assert [name["name"] for name in names] == ["this one"]


def test_nothing_to_draw():
    z = kv.size(kv.preset("all-minilm-l6-v2"), 512)
    with pytest.raises(AttnvizError, match="keeps no cache"):
        figures.growth(z, [])


def test_ticks_are_few():
    for slug in SLUGS:
        z = sized(slug)
        axis = figures.growth(z, kv.alternatives(z.spec))["layer"][1]["encoding"]["y"]["axis"]
        assert 2 <= len(axis["values"]) <= 10


def test_where_curves_cross_is_marked():
    z = sized("kimi-k3", 65_536)
    llama = kv.preset("llama-3-8b")
    (mark,) = figures.growth(z, [llama])["datasets"]["crossings"]
    tokens = mark["tokens"]
    before, after = (kv.size(z.spec, n).total_bytes for n in (tokens - 1, tokens))
    assert before > kv.size(llama, tokens - 1).total_bytes
    assert mark["bytes"] == after <= kv.size(llama, tokens).total_bytes
    assert "all alike" not in figures.growth(z, [llama])["title"]["subtitle"]


def test_curves_follow_the_accounting():
    z = kv.size(kv.preset("mistral-7b-v0.1"), 8192, accounting="transformers")
    curve = {point.tokens: point.bytes for point in figures.points([z.spec], z)}
    assert curve[8192] == 536_739_840

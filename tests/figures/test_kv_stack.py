"""The stack: valid Vega-Lite that shows every layer, its kind and its bytes."""

from __future__ import annotations

import altair as alt
import pytest

from attnviz import kv_cache as kv
from attnviz.figures.kv_stack import KINDS, stack

SLUGS = ["llama-3.1-8b", "gemma-3-27b", "deepseek-v3.2", "kimi-k3", "t5-small", "all-minilm-l6-v2"]


def sized(slug: str) -> kv.Size:
    return kv.size(kv.preset(slug), 8192, encoder_length=64)


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("slug", SLUGS)
def test_altair_finds_the_spec_valid(slug: str, dark: bool):
    alt.LayerChart.from_dict(stack(sized(slug), dark=dark)).to_dict()


def test_titles_and_units():
    drawn = stack(sized("llama-3.1-8b"))
    assert drawn["title"] == "What each layer holds at this context"
    bars = drawn["layer"][0]["encoding"]
    assert bars["y"]["title"] == "MiB a layer"
    assert bars["x"]["title"] == "Layer, from the first to the last"
    assert bars["color"]["title"] == "Kind"


@pytest.mark.parametrize("slug", SLUGS)
def test_every_layer_is_there(slug: str):
    z = sized(slug)
    rows = stack(z)["datasets"]["layers"]
    assert sum(row["bytes"] for row in rows) == z.total_bytes
    assert [row["layer"] for row in rows] == list(z.spec.indices)
    assert [row["kind"] for row in rows] == [layer.kind for layer in z.spec.layers]
    assert all(row["stores"] for row in rows)


def test_a_layer_that_holds_next_to_nothing_still_shows_its_kind():
    z = kv.size(kv.preset("gpt-oss-120b"), 131_072)
    floor = stack(z)["datasets"]["floor"]
    assert [row["kind"] for row in floor] == ["sliding", "full"] * 18
    both = stack(sized("t5-small"))["datasets"]
    assert len(both["layers"]) == 12
    assert both["floor"] == []  # self and cross share a bar, which shows both


def test_every_kind_has_its_colours():
    from attnviz.kv_cache.layers import KINDS as kinds

    assert set(KINDS) == set(kinds)

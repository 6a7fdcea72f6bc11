"""Figures of heads hold what the runs computed, and costs are counted from their tensors."""

from __future__ import annotations

import altair as alt
import numpy as np
import pytest
import torch

import attnviz as av
from attnviz.figures.head_costs import cost_charts, costs, formulas
from attnviz.figures.heads import (
    divisors,
    heads_code,
    heads_figure,
    kv_head_of,
    reading,
    sharing_chart,
    similarity_figure,
)


def run(n_kv_heads: int, n_heads: int = 8, length: int = 6, **options) -> av.Trace:
    inputs = av.random_inputs(length, 32, seed=2)
    options.setdefault("mask", av.masks.causal())
    return av.run("grouped_query", inputs, n_heads=n_heads, n_kv_heads=n_kv_heads, **options)


def test_divisors_are_the_numbers_of_heads_that_fit():
    assert divisors(12) == [1, 2, 3, 4, 6, 12]


@pytest.mark.parametrize("n_kv_heads", [1, 2, 4, 8])
def test_the_kv_head_named_is_the_one_that_pytorch_uses(n_kv_heads):
    """enable_gqa with values that differ by key/value head says whose it took."""
    q, k = torch.randn(1, 8, 3, 4), torch.randn(1, n_kv_heads, 3, 4)
    v = torch.arange(n_kv_heads).view(1, -1, 1, 1).expand(1, n_kv_heads, 3, 1).float()
    taken = torch.nn.functional.scaled_dot_product_attention(q, k, v, enable_gqa=True)[0, :, 0, 0]
    assert [kv_head_of(head, 8, n_kv_heads) for head in range(8)] == taken.round().int().tolist()


def test_the_grid_holds_every_heads_exact_map():
    trace = run(2)
    figure = heads_figure(trace, head=5)
    assert figure.grid.kv_heads == 2
    assert np.array_equal(figure.grid.stack[0], trace.weights[0].numpy())
    assert np.array_equal(figure.panels[0].values, trace.weights[0, 5].numpy())
    assert np.array_equal(figure.panels[0].blocked, ~np.tril(np.ones((6, 6), bool)))


def test_without_a_mask_nothing_is_hatched():
    assert heads_figure(run(2, mask=None)).panels[0].blocked is None


def test_similarity_is_one_within_a_group_of_keys():
    keys, divergence = similarity_figure(run(2)).panels
    groups = np.arange(8) // 4
    same = groups[:, None] == groups[None]
    assert np.allclose(keys.values[same], 1, atol=1e-5)
    assert (keys.values[~same] < 0.9).all()
    assert np.allclose(np.diag(divergence.values), 0, atol=1e-6)
    assert (divergence.values[~np.eye(8, dtype=bool)] > 0.01).all()  # maps differ all the same


@pytest.mark.parametrize("n_kv_heads", [1, 2, 4, 8])
def test_lines_join_each_query_head_to_its_keys(n_kv_heads):
    chart = sharing_chart(8, n_kv_heads)
    alt.LayerChart.from_dict(chart).to_dict()  # raises where it is not valid
    place = {row["name"]: row["x"] for row in chart["datasets"]["spots"]}
    from_queries = [link for link in chart["datasets"]["links"] if link["row"] == "queries"]
    assert len(from_queries) == 8
    for link in from_queries:
        head = int(link["x"])
        assert link["x2"] == place[f"K{kv_head_of(head, 8, n_kv_heads)}"]
        assert place[f"Q{head}"] == link["x"]
    # What the slider moves is data: the browser builds a chart anew when anything else changes.
    assert sharing_chart(8, 2) | {"datasets": None} == chart | {"datasets": None}


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize("n_kv_heads", [1, 2, 4, 8])
def test_costs_counted_from_tensors_equal_the_formula(n_kv_heads, dtype):
    trace = run(n_kv_heads, dtype=dtype)
    d, H, G, d_h = 32, 8, n_kv_heads, 4
    size = {"float32": 4, "float64": 8, "bfloat16": 2}[dtype]
    (row,) = costs([trace]).to_dict("records")
    assert row["parameters"] == 2 * d * H * d_h + 2 * d * G * d_h
    assert row["cache"] == 2 * G * d_h * size
    told = formulas(trace)
    assert f"= {row['parameters']:,}\\ \\text{{parameters}}" in told
    assert f"= {row['cache']:,}\\ \\text{{bytes per token and layer}}" in told


def test_multi_head_costs_what_pytorchs_own_module_has():
    module = torch.nn.MultiheadAttention(32, 8, bias=False)
    own = sum(parameter.numel() for parameter in module.parameters())
    assert costs([run(8)])["parameters"].tolist() == [own]


def test_costs_are_named_and_not_repeated():
    table = costs([run(8), run(8), run(2), run(1)])
    assert table["arrangement"].tolist() == ["MHA: 8 KV heads", "GQA: 2 KV heads", "MQA: 1 KV head"]
    charts = cost_charts(table, run(2))
    for chart in charts:
        alt.LayerChart.from_dict(chart).to_dict()  # raises where it is not valid
    units = [chart["layer"][0]["encoding"]["x"]["title"] for chart in charts]
    assert units == ["numbers in W_q, W_k, W_v, W_o", "bytes per token and layer, float32"]


@pytest.mark.parametrize(
    ("n_kv_heads", "head", "sentence"),
    [
        (2, 5, "reads key/value head 1, as do query heads 4, 6, 7: 5 // (8 / 2) = 1."),
        (4, 5, "reads key/value head 2, as does query head 4: 5 // (8 / 4) = 2."),
        (8, 5, "reads key/value head 5, and no other head does: 5 // (8 / 8) = 5."),
    ],
)
def test_a_sentence_says_whom_a_head_shares_with(n_kv_heads, head, sentence):
    assert reading(run(n_kv_heads), head) == f"Query head {head} {sentence}"


@pytest.mark.parametrize("mask", [None, av.masks.causal()])
def test_the_code_computes_what_is_drawn(mask):
    scope: dict[str, object] = {}
    exec(heads_code("av.random_inputs(6, d_model=32, seed=2)", run(2, mask=mask)), scope)
    assert scope["trace"].weights.equal(run(2, mask=mask).weights)

"""Comparing runs: maps on one scale, exact differences, distances that mean what they say."""

from __future__ import annotations

from functools import partial

import altair as alt
import numpy as np
import pytest
import torch

import attnviz as av
from attnviz.figures.compare import compare_figure, costs, distance_chart, distances
from attnviz.metrics.distance import by_token, relative

X = av.random_inputs(6, 16, seed=1)
CAUSAL = av.masks.causal()


def runs(*names: str) -> dict[str, av.Trace]:
    made = {}
    for name in names:
        recurrent = av.variants.find(name).recurrence is not None
        made[name] = av.run(name, X, **({} if recurrent else {"mask": CAUSAL}))
    return made


def test_maps_and_differences_are_the_runs_own() -> None:
    traces = runs("multi_head", "delta_rule", "scaled_dot_product")
    panels = {panel.id: panel for panel in compare_figure(traces, head=2).panels}
    assert list(panels)[:3] == list(traces)
    one, other = (traces[name].weights[0, 2].numpy() for name in ("multi_head", "delta_rule"))
    assert np.array_equal(panels["multi_head"].values, one)
    assert np.array_equal(panels["delta_rule-difference"].values, one - other)
    assert panels["scaled_dot_product"].subtitle == "softmax weights, its one head"
    assert {panel.scale for panel in panels.values()} == {"signed"}
    assert len({panels[name].limit for name in traces}) == 1
    assert panels["multi_head"].rows == panels["delta_rule"].rows


def test_softmax_alone_keeps_the_scale_of_weights() -> None:
    first, second, change = compare_figure(runs("multi_head", "grouped_query"), head=0).panels
    assert (first.scale, first.limit, change.scale) == ("weight", 1.0, "signed")
    assert second.blocked is not None
    assert np.array_equal(change.blocked, second.blocked)


def test_weights_of_the_same_seed_are_found_to_be_shared() -> None:
    table = distances(runs("multi_head", "linear", "grouped_query"))
    shared = dict(zip(table["pair"], table["shared"], strict=True))
    assert shared["Multi-head attention and Linear attention"] == "W_q, W_k, W_v, W_o"
    assert "W_q" in shared["Multi-head attention and Grouped-query attention"]


def test_distances_by_hand() -> None:
    one = torch.tensor([[3.0, 4.0], [1.0, 0.0]])
    assert relative(one, one) == 0
    assert relative(one, -one) == pytest.approx(2)
    assert relative(one * 0, one * 0) == 0
    assert by_token(one, torch.tensor([[3.0, 4.0], [0.0, 1.0]])).tolist() == pytest.approx(
        [0, 2**0.5]
    )


def test_a_variant_is_at_no_distance_from_itself_and_the_chart_is_valid() -> None:
    trace = runs("multi_head")["multi_head"]
    table = distances({"multi_head": trace, "grouped_query": trace})
    assert table["output"].tolist() == [0]
    assert table["map"].tolist() == [0]
    spec = distance_chart(distances(runs("linear", "mamba2", "retention")), trace.query_tokens)
    alt.Chart.from_dict(spec)
    assert len(spec["datasets"]["tokens"]) == 3 * 6


def test_costs_are_those_of_the_bills() -> None:
    traces = runs("multi_head", "delta_rule")
    table = costs(traces, {name: partial(av.run, name, X) for name in traces})
    assert (table["operations"] > 0).all()
    state = traces["delta_rule"].state
    assert state is not None
    assert table["kept"].tolist()[1] == state.nbytes
    assert table["parameters"].tolist()[0] == 4 * 16 * 16

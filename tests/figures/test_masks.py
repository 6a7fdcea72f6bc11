"""Figures of a mask hold exactly what the two runs computed."""

from __future__ import annotations

import altair as alt
import numpy as np
import pandas as pd
import pytest
import torch

import attnviz as av
from attnviz import masks
from attnviz.figures.conventions import Convention, conventions
from attnviz.figures.empty_rows import empty_query, run_empty_row
from attnviz.figures.masks import keys_seen_chart, mask_code, mask_figure, mask_summary

WINDOW = masks.causal() & masks.sliding_window(2)


def runs(mask: masks.Mask, length: int = 5) -> tuple[av.Inputs, av.Trace, av.Trace]:
    inputs = av.random_inputs(length, 8, seed=1)
    unmasked = av.run("scaled_dot_product", inputs)
    masked = av.run("scaled_dot_product", inputs, mask=mask, empty_rows="zero")
    return inputs, unmasked, masked


def test_the_four_panels_are_the_tensors_of_the_runs():
    _, unmasked, masked = runs(WINDOW)
    figure = mask_figure(unmasked, masked)
    allowed, weights, open_, change = figure.panels
    assert [panel.id for panel in figure.panels] == ["allowed", "weights", "open", "change"]
    expected = WINDOW.allowed(5, 5)[0, 0].numpy()
    assert np.array_equal(allowed.values, expected.astype(np.float32))
    assert allowed.scale == "flag"
    assert np.array_equal(weights.values, masked.weights[0, 0].numpy())
    assert np.array_equal(open_.values, unmasked.weights[0, 0].numpy())
    assert np.array_equal(change.values, (masked.output - unmasked.output)[0].numpy())
    assert np.array_equal(weights.blocked, ~expected)
    assert open_.blocked is None
    assert weights.limit == open_.limit == 1
    assert "causal and sliding window 2" in allowed.subtitle


def test_weights_with_the_mask_are_those_of_pytorch():
    _, unmasked, masked = runs(WINDOW)
    q, k = masked["query"].tensor, masked["key"].tensor
    theirs = torch.nn.functional.scaled_dot_product_attention(
        q, k, torch.eye(5)[None], attn_mask=WINDOW.allowed(5, 5)[0]
    )
    drawn = mask_figure(unmasked, masked).panels[1].values
    assert np.allclose(drawn, theirs[0].numpy(), atol=1e-6)


def test_a_mask_that_hides_nothing_hatches_nothing_and_changes_nothing():
    _, unmasked, masked = runs(masks.bidirectional())
    figure = mask_figure(unmasked, masked)
    assert all(panel.blocked is None for panel in figure.panels)
    assert not figure.panels[3].values.any()
    assert mask_summary(unmasked, masked) == (
        "0 of 25 pairs are hidden; of an average query's weight, 0% moved to other keys."
    )


def test_the_summary_counts_pairs_and_the_weight_that_moved():
    _, unmasked, masked = runs(masks.causal())
    lost = unmasked.weights[0, 0].triu(1).sum(-1).mean().item()  # all of it goes elsewhere
    assert mask_summary(unmasked, masked) == (
        f"10 of 25 pairs are hidden; of an average query's weight, {lost:.0%} moved to other keys."
    )


def test_the_summary_says_which_rows_are_zeros_by_choice():
    _, unmasked, masked = runs(~masks.causal())
    assert "1 query sees no key: its weights and output are drawn as zeros." in mask_summary(
        unmasked, masked
    )
    _, unmasked, masked = runs(~masks.bidirectional())
    assert mask_summary(unmasked, masked) == (
        "25 of 25 pairs are hidden. 5 queries see no key: their weights and output are drawn as "
        "zeros."
    )


def test_keys_seen_are_the_row_sums_of_the_mask():
    _, _, masked = runs(WINDOW)
    chart = keys_seen_chart(masked)
    alt.Chart.from_dict(chart).to_dict()  # raises where it is not valid
    drawn = chart["datasets"]["queries"]
    assert [row["keys"] for row in drawn] == [1, 2, 2, 2, 2]
    assert [row["query"] for row in drawn] == ["0 x0", "1 x1", "2 x2", "3 x3", "4 x4"]
    assert chart["encoding"]["y"]["title"] == "keys (of 5)"
    _, _, other = runs(masks.causal())
    assert keys_seen_chart(other) | {"datasets": None} == chart | {"datasets": None}


def cells(convention: Convention) -> pd.DataFrame:
    """The rows that a convention's chart draws."""
    assert convention.chart is not None
    alt.LayerChart.from_dict(convention.chart).to_dict()  # raises where it is not valid
    return pd.DataFrame(convention.chart["datasets"]["cells"])


def test_each_convention_shows_its_own_entries():
    _, _, masked = runs(masks.causal(), length=3)
    shown = {
        convention.name: cells(convention).pivot(index="query", columns="key", values="entry")
        for convention in conventions(masked)
        if convention.chart is not None
    }
    assert shown["Boolean, True keeps"].loc[0].tolist() == ["T", "F", "F"]
    assert shown["Boolean, True blocks"].loc[0].tolist() == ["F", "T", "T"]
    assert shown["0 / 1"].loc[1].tolist() == ["1", "1", "0"]
    assert shown["Additive, 0 / −∞"].loc[1].tolist() == ["0", "0", "−∞"]
    assert "Key padding, True blocks" not in shown


def test_only_a_padding_mask_has_a_key_padding_form():
    _, _, causal = runs(masks.causal())
    problem = conventions(causal)[-1]
    assert problem.chart is None
    assert "differs between them" in problem.problem
    _, _, padded = runs(masks.padding([3]))
    drawn = cells(conventions(padded)[-1])
    assert drawn["entry"].tolist() == ["F", "F", "F", "T", "T"]
    grounds = drawn["ground"].tolist()
    assert grounds[0] == grounds[2] != grounds[3] == grounds[4]


def test_convention_tables_stay_small():
    _, _, masked = runs(masks.causal(), length=40)
    for convention in conventions(masked)[:4]:
        assert len(cells(convention)) == 100


@pytest.mark.parametrize("positions", ["none", "rotary"])
def test_the_empty_row_table_tells_every_convention_apart(positions):
    inputs = av.random_inputs(5, 8, seed=1, positions=positions)
    masked = av.run("scaled_dot_product", inputs, mask=masks.causal())
    shown = run_empty_row(inputs, masked, 2)
    results = dict(zip(shown.table["convention"], shown.table["result"], strict=True))
    assert results["The formula: softmax with −∞ added"].startswith("NaN")
    assert results["PyTorch SDPA, boolean mask"] == "zeros"
    assert results["transformers, eager: lowest finite number added"].startswith("uniform")
    assert results["attnviz, unless asked otherwise"] == "an error that names the row"
    assert results['attnviz, empty_rows="zero"'] == "zeros"
    assert shown.error.startswith("Query 2 ('x2') has no key it may look at")
    weight = dict(zip(shown.table["convention"], shown.table["weight of key 0"], strict=True))
    assert weight["transformers, eager: lowest finite number added"] == "0.2"


def test_the_query_shown_is_the_runs_own_empty_one():
    _, _, none_empty = runs(masks.causal())
    assert empty_query(none_empty) == 0
    assert empty_query(none_empty, 3) == 3
    assert empty_query(none_empty, 99) == 0
    _, _, last_empty = runs(~masks.causal())
    assert empty_query(last_empty, 1) == 4


def test_the_code_computes_what_is_drawn():
    _, _, masked = runs(~(WINDOW | masks.prefix(1)))
    code = mask_code("av.random_inputs(5, d_model=8, seed=1)", ~(WINDOW | masks.prefix(1)), 0)
    scope: dict[str, object] = {}
    exec(code, scope)
    assert scope["trace"].weights.equal(masked.weights)

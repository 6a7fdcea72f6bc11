"""A trace's panels: the very numbers, with their shapes, axes and hidden cells."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

import attnviz as av
from attnviz import masks
from attnviz.figures.figure import Panel
from attnviz.figures.steps import cell_index, settings_line, steps_figure, steps_table

X = av.random_inputs(5, 16, batch=2, seed=1)
C = av.Inputs(av.random_inputs(3, 16, batch=2, seed=2).embeddings, ["a", "b", "a"])

RUNS = {
    "one head": av.run("scaled_dot_product", X, head_dim=6, v_head_dim=4, mask=masks.causal()),
    "cross": av.run("scaled_dot_product", X, context=C),
    "many heads": av.run("multi_head", X, n_heads=2, mask=masks.padding([5, 2])),
    "shared heads": av.run("grouped_query", X, n_heads=4, n_kv_heads=2, context=C),
    "rotary": av.run("multi_head", av.random_inputs(4, 16, positions="rotary"), n_heads=2),
    "sinusoidal": av.run("scaled_dot_product", av.random_inputs(4, 16, positions="sinusoidal")),
}


RECURRENT = {
    name: av.run(name, X, n_heads=2)
    for name, variant in av.variants.VARIANTS.items()
    if variant.recurrence is not None
}


def by_id(trace: av.Trace, **options: int) -> dict[str, Panel]:
    return {panel.id: panel for panel in steps_figure(trace, **options).panels}


@pytest.mark.parametrize("trace", RUNS.values(), ids=RUNS.keys())
def test_every_matrix_is_there_in_order(trace: av.Trace) -> None:
    figure = steps_figure(trace)
    assert [panel.id for panel in figure.panels] == [*trace.names, *trace.parameters]
    assert figure.alt
    for panel in figure.panels:
        rows, cols = panel.values.shape
        assert panel.subtitle.startswith(f"{rows} × {cols} (")
        assert panel.title
        assert panel.rows.title
        assert panel.cols.title
        assert "{" not in panel.title


@pytest.mark.parametrize("trace", RUNS.values(), ids=RUNS.keys())
def test_a_panel_shows_the_cells_that_cell_index_finds(trace: av.Trace) -> None:
    head = trace.weights.shape[1] - 1
    for name, panel in by_id(trace, head=head).items():
        if name in trace.parameters:
            assert np.array_equal(panel.values, trace.parameters[name].numpy())
            continue
        for row, col in ((0, 0), (panel.values.shape[0] - 1, 1)):
            value = float(trace[name].tensor[cell_index(trace, name, row, col, head=head)])
            shown = float(panel.values[row, col])
            hidden = panel.blocked is not None and bool(panel.blocked[row, col])
            assert shown == value or (hidden and name == "masked" and np.isnan(shown))


@pytest.mark.parametrize("name", av.variants.names())
def test_any_registered_variant_is_drawn_whole(name: str) -> None:
    """Whatever steps and weights it has: each is a panel, named, with its own numbers."""
    trace = av.run(name, av.random_inputs(5, 32, batch=2, seed=1))
    figure = steps_figure(trace, batch=1)
    assert [panel.id for panel in figure.panels] == [*trace.names, *trace.parameters]
    for panel in figure.panels:
        assert panel.title
        assert panel.title[0].isupper()
        tensor = trace.tensor(panel.id).float().flatten()
        assert np.isin(panel.values[np.isfinite(panel.values)], tensor.numpy()).all()
    assert len(steps_table(trace).splitlines()) == len(trace.steps) + 2


def test_a_step_and_a_weight_that_nobody_has_named_are_drawn() -> None:
    made = torch.arange(2 * 3 * 4 * 5.0).reshape(2, 3, 4, 5)
    step = av.Step("new_thing", made, ("batch", "block", "query", "place"), formula="N")
    base = RUNS["one head"]
    weights = {"W_new": torch.ones(16, 3), "bias": torch.ones(7), "stack": torch.ones(2, 3, 4)}
    trace = replace(base, steps=(*base.steps, step), parameters=weights)
    panels = by_id(trace)
    assert panels["new_thing"].title == "New thing"
    assert panels["new_thing"].subtitle == "4 × 5 (query × place)"
    assert np.array_equal(panels["new_thing"].values, made[0, 0].numpy())
    assert panels["W_new"].subtitle == "16 × 3 (d_model × column)"
    assert panels["bias"].values.shape == (1, 7)
    assert panels["stack"].values.shape == (3, 4)


@pytest.mark.parametrize("name", RECURRENT)
def test_numbers_of_a_head_and_token_are_a_strip_of_heads(name: str) -> None:
    panel = by_id(RECURRENT[name], head=1)["state_norm"]
    assert panel.subtitle == "2 × 5 (H × T)"
    assert np.array_equal(panel.values, RECURRENT[name]["state_norm"].tensor[0].numpy())


def test_an_effective_map_is_signed_and_a_softmax_is_not() -> None:
    map_ = by_id(RECURRENT["delta_rule"], head=1)["weights"]
    assert (map_.scale, map_.limit, map_.title) == ("signed", None, "Effective map A")
    assert by_id(RUNS["many heads"])["weights"].scale == "weight"


def test_shared_heads_show_the_head_that_is_read() -> None:
    trace = RUNS["shared heads"]
    key = trace["key_heads"].tensor
    assert np.array_equal(by_id(trace, head=1)["key_heads"].values, key[0, 0].numpy())
    assert np.array_equal(by_id(trace, head=2)["key_heads"].values, key[0, 1].numpy())
    assert by_id(trace, head=2)["key_heads"].title == "Keys of key/value head 1"


def test_hidden_cells_are_marked_and_have_no_number() -> None:
    panels = by_id(RUNS["one head"])
    above = np.triu(np.ones((5, 5), bool), 1)
    for name in ("masked", "weights"):
        assert np.array_equal(panels[name].blocked, above)
    assert np.isnan(panels["masked"].values[above]).all()
    assert not panels["weights"].values[above].any()
    assert panels["scores"].blocked is None
    second = by_id(RUNS["many heads"], batch=1)["weights"].blocked
    assert second is not None
    assert second[:, 2:].all()
    assert not second[:, :2].any()
    assert by_id(RUNS["many heads"])["weights"].blocked is None  # example 0 has no filler


def test_repeated_tokens_keep_their_places() -> None:
    panels = by_id(RUNS["cross"])
    assert panels["weights"].cols.labels == ("a", "b", "a")
    assert (
        panels["weights"].rows.labels == ("0", "1", "2", "3", "4")
        or len(panels["weights"].rows.labels) == 5
    )
    assert panels["key"].title == "Keys K = C·Wk"
    assert panels["weights"].subtitle == "5 × 3 (T_q × T_k)"


def test_linked_axes_have_the_same_names() -> None:
    panels = by_id(RUNS["one head"])
    assert panels["key"].rows.name == panels["scores"].cols.name == "key"
    assert panels["query"].rows.name == panels["weights"].rows.name == "query"
    assert panels["value"].cols.name == panels["output"].cols.name == "value_channel"
    assert panels["inputs"].cols.name == panels["W_q"].rows.name == "feature"
    assert panels["query"].cols.name == panels["W_q"].cols.name == "channel"


def test_scales_and_accents() -> None:
    panels = by_id(RUNS["one head"])
    assert panels["weights"].scale == "weight"
    assert panels["weights"].limit == 1
    assert panels["scores"].scale == "signed"
    assert [panels[name].accent for name in ("query", "key", "value", "output", "W_k")] == [
        "query",
        "key",
        "value",
        "output",
        "key",
    ]
    assert panels["scaled"].limit == panels["masked"].limit


def test_settings_say_which_run_it_is() -> None:
    line = settings_line(RUNS["one head"])
    for words in ("head_dim 6", "mask causal", "seed 0", "float32 on cpu", "scale 0.4082"):
        assert words in line


def test_half_precision_and_gradients_can_be_drawn() -> None:
    x = av.Inputs(torch.randn(1, 3, 8, requires_grad=True))
    assert by_id(av.run("scaled_dot_product", x, dtype="bfloat16"))["weights"].values.dtype == (
        np.float32
    )

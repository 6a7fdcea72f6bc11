"""Maps of any variant: the very weights of every head, in the colours of their kind."""

from __future__ import annotations

import numpy as np
import pytest

import attnviz as av
from attnviz import masks
from attnviz.figures.maps import kind_sentence, map_figure, run_code
from attnviz.figures.state import state_figure

X = av.random_inputs(6, 16, seed=1)


@pytest.mark.parametrize("name", av.variants.names())
def test_every_head_of_every_variant_is_there(name: str) -> None:
    trace = av.run(name, X)
    figure = map_figure(trace, 0)
    (panel,) = figure.panels
    assert np.array_equal(panel.values, trace.weights[0, 0].numpy())
    assert (panel.scale == "signed") == (trace.weights_kind == "effective")
    if figure.grid is None:
        assert trace.weights.shape[1] == 1
    else:
        assert np.array_equal(figure.grid.stack[0], trace.weights[0].numpy())
    assert str(len(trace.weights[0])) in figure.alt
    which = "channel" if name == "hyena" else "head"
    told = kind_sentence(trace, 0)
    assert f"of {which} 0{':' if panel.scale == 'weight' else ' (output'}" in told


def test_what_every_head_may_not_see_is_hatched() -> None:
    trace = av.run("multi_head", X, mask=masks.causal())
    assert np.array_equal(map_figure(trace).panels[0].blocked, np.triu(np.ones((6, 6), bool), 1))
    assert map_figure(av.run("multi_head", X)).panels[0].blocked is None


def test_thumbnails_and_stack_of_cross_attention_are_exact() -> None:
    trace = av.run("multi_head", X, context=av.random_inputs(3, 16, seed=2))
    grid = map_figure(trace).grid
    assert grid is not None
    assert grid.stack is not None
    assert grid.stack.shape == (1, 4, 6, 3)
    assert np.array_equal(grid.thumbnails, grid.stack)


def test_the_sentence_tells_the_numbers() -> None:
    trace = av.run("delta_rule", X)
    least = float(trace.weights[0, 1].min())
    assert f"−{-least:.3g}" in kind_sentence(trace, 1)
    assert "rows add up to 1." in kind_sentence(av.run("multi_head", X), 0)


def test_the_code_runs() -> None:
    names: dict = {}
    given = {"x": "av.random_inputs(6, d_model=16, seed=1)"}
    exec(run_code(given, "linear", {"feature_map": "'exp'"}), names)
    assert np.array_equal(names["trace"].output, av.run("linear", X, feature_map="exp").output)


@pytest.mark.parametrize("name", ["linear", "retention", "kimi_delta", "mamba2"])
@pytest.mark.parametrize("token", [0, 3, 5])
def test_a_states_change_adds_up_to_what_the_run_computed(name: str, token: int) -> None:
    trace = av.run(name, X)
    panels = {panel.id: panel for panel in state_figure(trace, token, head=1).panels}
    erased = panels["erased"].values if "erased" in panels else 0
    made = panels["kept"].values - erased + panels["written"].values
    assert np.allclose(made, panels["after"].values, atol=1e-6)
    assert np.allclose(panels["after"].values, av.variants.state_at(trace, token)[0, 1], atol=1e-6)
    assert ("erased" in panels) == ("erased" in trace.names)
    assert not panels["before"].values.any() or token > 0
    if token == 5:
        assert trace.state is not None
        assert np.allclose(panels["after"].values, trace.state[0, 1], atol=1e-5)
    if name == "linear":
        assert panels["after"].cols.labels[-1] == "1"  # the normaliser's

"""The exact map: A V + B S_0 is the recurrent output, in closed form and by probing."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

import attnviz as av
from attnviz.variants.chunked import chunked
from attnviz.variants.effective import effective_map, initial_map, probe
from attnviz.variants.recurrence import recur
from tests.variants.cases import largest_difference, relative_difference
from tests.variants.recurrent_cases import EXACT, RECURRENT, driven, inputs, state_for

HARD = {
    "as usual": {},
    "very fast decay": {"fastest": 1000.0},
    "channels that fade apart": {"channels": 8},
    "channels, very fast": {"channels": 8, "fastest": 1000.0},
    "beta up to 2": {"strongest": 2.0},
    "all at once": {"channels": 8, "fastest": 1000.0, "strongest": 2.0},
    "additive": {"erases": False, "fastest": 1000.0},
    "additive by channel": {"erases": False, "channels": 8, "fastest": 50.0},
    "one token": {"length": 1, "channels": 8},
}


@pytest.mark.parametrize("started", [False, True])
@pytest.mark.parametrize("dtype", EXACT)
@pytest.mark.parametrize("case", HARD.values(), ids=HARD.keys())
def test_map_chunks_and_probe_are_the_recurrence(case: dict, dtype: str, started: bool) -> None:
    r = driven(getattr(torch, dtype), **case)
    start = torch.full_like(r.start(None), 0.7) if started else None
    done = recur(r, start)
    A = effective_map(r, start)
    output = A @ r.value
    if start is not None:
        output = output + initial_map(r, start) @ start
    assert largest_difference(output, done.output) < EXACT[dtype]
    assert largest_difference(probe(r, start), A) < EXACT[dtype]
    for chunk in (16, 64):
        fast, state = chunked(r, start, chunk)
        assert largest_difference(fast, done.output) < EXACT[dtype]
        assert largest_difference(state, done.state) < EXACT[dtype]


@pytest.mark.parametrize(
    "without",
    [{"scale": 1.0}, {"erases": False}, {"strength": None}, {"log_decay": None}],
    ids=lambda change: next(iter(change)),
)
def test_every_part_of_the_recurrence_shows_in_the_map(without: dict) -> None:
    r = driven(torch.float64, channels=8)
    neutral = {"strength": torch.ones_like(r.strength), "log_decay": torch.zeros_like(r.log_decay)}
    changed = {word: neutral[word] if value is None else value for word, value in without.items()}
    assert largest_difference(effective_map(replace(r, **changed)), effective_map(r)) > 1e-2


@pytest.mark.parametrize("started", [False, True])
@pytest.mark.parametrize("dtype", EXACT)
@pytest.mark.parametrize("name", RECURRENT)
def test_a_variants_map_makes_its_output(name: str, dtype: str, started: bool) -> None:
    x = inputs(dtype)
    trace = av.run(name, x, n_heads=3)
    if started:
        trace = av.run(name, x, n_heads=3, initial_state=state_for(name, trace))
    values = "value_features" if "value_features" in trace.names else "value_heads"
    output = trace.weights @ trace[values].tensor
    if started:
        start = trace["initial_state"].tensor[..., : output.shape[-1]]
        output = output + trace["initial_map"].tensor @ start
    assert trace.weights_kind == "effective"
    assert relative_difference(output, trace["heads"].tensor) < EXACT[dtype]
    assert relative_difference(av.variants.probed_map(trace), trace.weights) < EXACT[dtype]

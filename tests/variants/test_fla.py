"""The recurrent variants against flash-linear-attention's own readable torch forms.

They compute in float32 whatever comes in. Layout (B, T, H, d), except where said.
"""

from __future__ import annotations

import importlib.util

import pytest
import torch

import attnviz as av
from tests.oracles import fla
from tests.variants.cases import largest_difference
from tests.variants.recurrent_cases import HEADS, inputs, state_for

CLOSE = 5e-6
DTYPES = ("float32", "float64")


def rows(trace: av.Trace, *names: str) -> list[torch.Tensor]:
    """Steps in (B, T, H, ..)."""
    return [trace[name].tensor.transpose(1, 2) for name in names]


def started(name: str, dtype: str, **choices: object) -> tuple[av.Trace, torch.Tensor]:
    """A run that begins with something in its state, and that state."""
    x = inputs(dtype)
    empty = av.run(name, x, n_heads=HEADS, **choices)
    state = state_for(name, empty).to(x.embeddings)
    return av.run(name, x, n_heads=HEADS, initial_state=state, **choices), state


def close(ours: torch.Tensor, theirs: torch.Tensor) -> bool:
    """To the precision of float32, relative to the largest entry where that is above 1."""
    return largest_difference(ours, theirs) < CLOSE * max(1.0, float(theirs.abs().max()))


def agree(trace: av.Trace, output: torch.Tensor, state: torch.Tensor) -> None:
    assert close(trace["heads"].tensor.transpose(1, 2), output)
    assert trace.state is not None
    assert close(trace.state, state)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("feature_map", ["elu", "relu", "exp", "softmax"])
def test_linear(feature_map: str, dtype: str) -> None:
    trace = av.run("linear", inputs(dtype), n_heads=HEADS, feature_map=feature_map)
    query, key, value = rows(trace, "query_features", "key_features", "value_heads")
    output, (state, sums) = fla("linear_attn").naive_recurrent_linear_attn(
        query, key, value, scale=1.0, normalize=True, output_final_state=True
    )
    agree(trace, output, torch.cat([state, sums[:, 0, :, :, None]], dim=-1))


@pytest.mark.parametrize("dtype", DTYPES)
def test_retention(dtype: str) -> None:
    trace = av.run("retention", inputs(dtype), n_heads=HEADS)
    query, key, value = (trace[name].tensor for name in ("query_heads", "key_heads", "value_heads"))
    output = fla("retention").naive_retention(query, key, value)  # head first
    assert close(trace["heads"].tensor, output)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("beta_max", [1, 2])
def test_delta_rule(beta_max: int, dtype: str) -> None:
    trace, start = started("delta_rule", dtype, beta_max=beta_max)
    names = ("query_features", "key_features", "value_heads", "beta")
    output, state = fla("delta_rule").delta_rule_recurrence(
        *(trace[name].tensor for name in names), initial_state=start
    )  # head first
    agree(trace, output.transpose(1, 2), state)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("beta_max", [1, 2])
def test_gated_delta_rule(beta_max: int, dtype: str) -> None:
    trace, start = started("gated_delta_rule", dtype, beta_max=beta_max)
    query, key, value, beta, g = rows(
        trace, "query_features", "key_features", "value_heads", "beta", "log_decay"
    )
    output, state = fla("gated_delta_rule").naive_recurrent_gated_delta_rule(
        query, key, value, beta=beta, g=g, initial_state=start, output_final_state=True
    )
    agree(trace, output, state)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("gate", ["softplus", "safe"])
def test_kimi_delta(gate: str, dtype: str) -> None:
    trace, start = started("kimi_delta", dtype, gate=gate, beta_max=2)
    query, key, value, g, beta = rows(
        trace, "query_features", "key_features", "value_heads", "log_decay", "beta"
    )
    output, state = fla("kda").naive_recurrent_kda(
        query, key, value, g=g, beta=beta, initial_state=start, output_final_state=True
    )
    agree(trace, output, state)


@pytest.mark.parametrize("dtype", DTYPES)
def test_lightning(dtype: str) -> None:
    """Simple gated linear attention, with lightning's constant decay."""
    trace, start = started("lightning", dtype)
    query, key, value, g = rows(
        trace, "query_features", "key_features", "value_features", "log_decay"
    )
    gla = fla("simple_gla")
    output, state = gla.naive_recurrent_simple_gla(
        query, key, value, g=g, scale=1.0, initial_state=start
    )
    agree(trace, output, state)
    bare = av.run("lightning", inputs(dtype), n_heads=HEADS)
    _, map_ = gla.naive_parallel_simple_gla(query, key, value, g=g, scale=1.0)
    assert bare.weights is not None
    assert close(bare.weights, map_)


def test_fla_itself_stays_out_of_reach() -> None:
    """transformers would call its Triton kernels for CPU tensors."""
    fla("kda")
    assert importlib.util.find_spec("fla") is None

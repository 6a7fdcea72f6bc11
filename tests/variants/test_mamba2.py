"""Mamba-2 against transformers' torch scan and its one-token update."""

from __future__ import annotations

from inspect import unwrap

import pytest
import torch
from transformers.models.mamba2 import modeling_mamba2 as mamba2

import attnviz as av
from tests.variants.cases import largest_difference
from tests.variants.recurrent_cases import EXACT, HEADS, inputs, state_for


def driven(trace: av.Trace) -> tuple[torch.Tensor, ...]:
    """x, C, B in transformers' (B, T, H, ..)."""
    return tuple(trace[f"{w}_heads"].tensor.transpose(1, 2) for w in ("value", "query", "key"))


@pytest.mark.parametrize("dtype", EXACT)
@pytest.mark.parametrize("started", [False, True])
@pytest.mark.parametrize("groups", [1, HEADS])
def test_output_is_transformers_scan(groups: int, started: bool, dtype: str) -> None:
    given = inputs(dtype)
    sizes = {"n_heads": HEADS, "n_key_heads": groups, "v_head_dim": 4}
    trace = av.run("mamba2", given, **sizes)
    start = state_for("mamba2", trace).to(given.embeddings) if started else None
    trace = av.run("mamba2", given, initial_state=start, **sizes)
    W = trace.parameters
    x, C, B = driven(trace)
    output, state = unwrap(mamba2.mamba2_chunk_scan)(
        x,
        given.embeddings @ W["W_dt"],
        -W["A_log"].exp(),
        B,
        C,
        chunk_size=16,
        D=W["D"],
        dt_bias=W["dt_bias"],
        initial_states=None if start is None else start.mT,
        dt_softplus=True,
        return_final_states=True,
    )
    assert trace.state is not None
    close = 2e-5  # the scan computes in float32 whatever comes in
    assert largest_difference(trace["heads"].tensor.transpose(1, 2), output.to(x)) < close
    assert largest_difference(trace.state.mT, state.to(x)) < close


def test_float64_is_the_formula_of_its_map() -> None:
    """A_ij = (C_i . B_j) exp(sum of Delta A from j + 1 to i) Delta_j + D [i = j]."""
    trace = av.run("mamba2", inputs(length=12), n_heads=HEADS)
    W = trace.parameters
    C, B = trace["query_heads"].tensor, trace["key_heads"].tensor
    delta = trace["step_size"].tensor
    A = -W["A_log"].exp()[:, None]
    for i in range(12):
        for j in range(12):
            if j > i:
                expected = torch.zeros(2, HEADS, dtype=torch.float64)
            else:
                fading = torch.exp((A * delta)[:, :, j + 1 : i + 1].sum(-1))
                expected = (C[:, :, i] * B[:, :, j]).sum(-1) * fading * delta[:, :, j]
                expected = expected + W["D"] * (i == j)
            assert largest_difference(trace.weights[:, :, i, j], expected) < 1e-12


def test_one_token_is_transformers_update() -> None:
    trace = av.run("mamba2", inputs("float32", length=1), n_heads=HEADS, n_key_heads=1)
    start = state_for("mamba2", trace).float()
    trace = av.run(
        "mamba2", inputs("float32", length=1), n_heads=HEADS, n_key_heads=1, initial_state=start
    )
    W = trace.parameters
    x, C, B = (tensor[:, 0] for tensor in driven(trace))

    def wide(per_head: torch.Tensor) -> torch.Tensor:
        return per_head[..., None].expand(*per_head.shape, 8)

    held = start.mT.contiguous()
    output = unwrap(mamba2.mamba2_selective_state_update)(
        held,
        x,
        wide((inputs("float32", length=1).embeddings @ W["W_dt"])[:, 0]),
        wide(-W["A_log"].exp())[..., None].expand(HEADS, 8, 8),
        B,
        C,
        D=wide(W["D"]),
        dt_bias=wide(W["dt_bias"]),
        dt_softplus=True,
    )
    assert largest_difference(trace["heads"].tensor[:, :, 0], output) < 1e-5
    assert trace.state is not None
    assert largest_difference(trace.state.mT, held) < 1e-5

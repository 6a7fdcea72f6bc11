"""DeltaNet, Gated DeltaNet and KDA against transformers' own torch implementations."""

from __future__ import annotations

from inspect import unwrap

import pytest
import torch
from torch.nn import functional as F
from transformers.models.kimi_linear import modeling_kimi_linear as kimi
from transformers.models.qwen3_next import modeling_qwen3_next as qwen

import attnviz as av
from tests.variants.cases import largest_difference
from tests.variants.recurrent_cases import HEADS, inputs, state_for

# transformers computes these in float32 whatever comes in.
CLOSE = 5e-6
GATED = {"one head each": {}, "beta up to 2": {"beta_max": 2}, "shared keys": {"n_key_heads": 1}}


def layout(tensor: torch.Tensor) -> torch.Tensor:
    """(B, H, T, ..) to transformers' (B, T, H, ..)."""
    return tensor.transpose(1, 2)


def drives(trace: av.Trace, *names: str) -> list[torch.Tensor]:
    return [layout(trace[name].tensor) for name in names]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("started", [False, True])
@pytest.mark.parametrize("sizes", GATED.values(), ids=GATED.keys())
@pytest.mark.parametrize("oracle", ["recurrent", "chunk"])
def test_gated_is_qwen3_nexts(oracle: str, sizes: dict, started: bool, dtype: str) -> None:
    x = inputs(dtype)
    trace = av.run("gated_delta_rule", x, n_heads=HEADS, **sizes)
    start = state_for("gated_delta_rule", trace).to(x.embeddings) if started else None
    trace = av.run("gated_delta_rule", x, n_heads=HEADS, initial_state=start, **sizes)
    query, key, value, g, beta = drives(
        trace, "query_heads", "key_heads", "value_heads", "log_decay", "beta"
    )
    rule = unwrap(getattr(qwen, f"torch_{oracle}_gated_delta_rule"))
    output, state = rule(
        query,
        key,
        value,
        g=g,
        beta=beta,
        initial_state=start,
        output_final_state=True,
        use_qk_l2norm_in_kernel=True,
    )
    assert trace.state is not None
    assert largest_difference(layout(trace["heads"].tensor), output) < CLOSE
    assert largest_difference(trace.state, state) < CLOSE


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("beta_max", [1, 2])
def test_ungated_is_qwen3_nexts_without_decay(beta_max: int, dtype: str) -> None:
    trace = av.run("delta_rule", inputs(dtype), n_heads=HEADS, beta_max=beta_max)
    query, key, value, beta = drives(trace, "query_heads", "key_heads", "value_heads", "beta")
    output, state = unwrap(qwen.torch_recurrent_gated_delta_rule)(
        query,
        key,
        value,
        g=torch.zeros_like(beta),
        beta=beta,
        output_final_state=True,
        use_qk_l2norm_in_kernel=True,
    )
    assert trace.state is not None
    assert largest_difference(layout(trace["heads"].tensor), output) < CLOSE
    assert largest_difference(trace.state, state) < CLOSE


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("gate", ["softplus", "safe"])
@pytest.mark.parametrize("started", [False, True])
@pytest.mark.parametrize("oracle", ["recurrent", "chunk"])
def test_kimi_delta_is_kimi_linears(oracle: str, started: bool, gate: str, dtype: str) -> None:
    x = inputs(dtype)
    trace = av.run("kimi_delta", x, n_heads=HEADS, gate=gate)
    start = state_for("kimi_delta", trace).to(x.embeddings) if started else None
    trace = av.run("kimi_delta", x, n_heads=HEADS, gate=gate, initial_state=start)
    query, key, value, g, beta = drives(
        trace, "query_heads", "key_heads", "value_heads", "log_decay", "beta"
    )
    rule = unwrap(getattr(kimi, f"{oracle}_kimi_delta_attention"))
    output, state = rule(
        query,
        key,
        value,
        g=g,
        beta=beta,
        initial_state=start,
        output_final_state=True,
        use_qk_l2norm_in_kernel=True,
    )
    assert trace.state is not None
    assert largest_difference(layout(trace["heads"].tensor), output) < CLOSE
    assert largest_difference(trace.state, state) < CLOSE


@pytest.mark.parametrize("beta_max", [1, 2])
@pytest.mark.parametrize("name", ["delta_rule", "gated_delta_rule", "kimi_delta"])
def test_write_strength_is_a_logistic_share_of_the_most(name: str, beta_max: int) -> None:
    x = inputs()
    trace = av.run(name, x, n_heads=HEADS, beta_max=beta_max)
    beta = layout(beta_max / (1 + torch.exp(-(x.embeddings @ trace.parameters["W_beta"]))))
    assert largest_difference(trace["beta"].tensor, beta) < 1e-12
    assert float(beta.std()) > 0.1


@pytest.mark.parametrize("name", ["gated_delta_rule", "kimi_delta"])
def test_decay_is_softplus_of_a_step(name: str) -> None:
    x = inputs()
    trace = av.run(name, x, n_heads=HEADS)
    W = trace.parameters
    z = (x.embeddings @ W["W_dt"] + W["dt_bias"]).unflatten(-1, (HEADS, -1))
    g = layout(-W["A_log"].exp()[:, None] * F.softplus(z))
    assert largest_difference(trace["log_decay"].tensor.reshape(g.shape), g) < 1e-12


def test_safe_decay_is_bailings_form() -> None:
    x = inputs()
    trace = av.run("kimi_delta", x, n_heads=HEADS, gate="safe")
    W = trace.parameters
    z = (x.embeddings @ W["W_dt"] + W["dt_bias"]).unflatten(-1, (HEADS, -1))
    g = layout(-5 / (1 + torch.exp(-W["A_log"].exp()[:, None] * z)))
    assert largest_difference(trace["log_decay"].tensor, g) < 1e-12


def test_float64_is_the_householder_form() -> None:
    """S_t = (I - beta k k^T) Diag(alpha) S_{t-1} + beta k v^T, with the matrices written out."""
    trace = av.run("kimi_delta", inputs(), n_heads=HEADS, beta_max=2)
    q, k, v, a, beta = (
        trace[name].tensor
        for name in ("query_features", "key_features", "value_heads", "decay", "beta")
    )
    S = torch.zeros(2, HEADS, 8, 8, dtype=torch.float64)
    for t in range(q.shape[2]):
        kt, b = k[:, :, t, :, None], beta[:, :, t, None, None]
        S = (torch.eye(8) - b * kt @ kt.mT) @ torch.diag_embed(a[:, :, t]) @ S
        S = S + b * kt @ v[:, :, t, None]
        read = (S.mT @ q[:, :, t, :, None])[..., 0] / 8**0.5
        assert largest_difference(trace["heads"].tensor[:, :, t], read) < 1e-12


def test_a_key_written_again_keeps_its_last_value_only() -> None:
    once = torch.randn(1, 1, 24, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    trace = av.run("delta_rule", av.Inputs(once.expand(1, 6, 24)), n_heads=HEADS, beta_max=2)
    key, value = trace["key_features"].tensor, trace["value_heads"].tensor
    beta, erased = trace["beta"].tensor, trace["erased"].tensor
    held = (value[:, :, 0] * beta[:, :, 0, None]) * (key[:, :, 0] ** 2).sum(-1, keepdim=True)
    assert largest_difference(erased[:, :, 1], beta[:, :, 1, None] * held) < 1e-12
    written = trace["written"].tensor
    assert largest_difference(written, beta[..., None] * value - erased) < 1e-12


BAD = {
    "beta": ({"beta_max": 3}, "beta_max must be 1 or 2; received 3"),
    "groups": (
        {"n_heads": 6, "n_key_heads": 4},
        "n_heads = 6 heads cannot share n_key_heads = 4 evenly; choose one of 1, 2, 3, 6",
    ),
}


@pytest.mark.parametrize(("change", "sentence"), BAD.values(), ids=BAD.keys())
def test_bad_sizes_are_told(change: dict, sentence: str) -> None:
    with pytest.raises(av.AttnvizError, match=sentence):
        av.run("gated_delta_rule", inputs(), **change)

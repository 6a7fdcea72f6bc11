"""Naive and absorbed decoding agree, and cost what really runs."""

from __future__ import annotations

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

import attnviz as av
from attnviz import masks
from attnviz.positions import rotary_tables
from attnviz.variants.latent_costs import decoding_costs, naive_is_cheaper_from
from attnviz.variants.latent_coupling import coupled_matrices, coupling
from attnviz.variants.latent_decoding import absorb, absorbed, decode, naive
from tests.variants.cases import largest_difference
from tests.variants.test_latent import SIZES, rotary

V2 = {
    "n_heads": 128,
    "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64,
    "v_head_dim": 128,
    "kv_lora_rank": 512,
}
V2 |= {"d_model": 5120}


def trace_of(dtype: str = "float64", **options) -> av.Trace:
    return av.run("latent", rotary(dtype), mask=masks.causal(), **SIZES, **options)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n_queries", [1, 3, 7])
@pytest.mark.parametrize("yarn", ["none", "40"])
@pytest.mark.parametrize("positions", ["none", "rotary"])
def test_both_forms_are_the_run(positions, yarn, n_queries, dtype) -> None:
    x = rotary(dtype) if positions == "rotary" else av.Inputs(rotary(dtype).embeddings)
    trace = av.run("latent", x, mask=masks.causal(), yarn=yarn, **SIZES)
    for form in decode(trace, n_queries):
        assert largest_difference(form.output, trace.output[:, -n_queries:]) < 1e-6
        assert largest_difference(form.weights, trace.weights[:, :, -n_queries:]) < 1e-6
        assert largest_difference(form.scores, trace["scores"].tensor[:, :, -n_queries:]) < 1e-5


def test_both_cache_a_latent_and_a_key_a_token() -> None:
    trace = trace_of()
    for form in decode(trace):
        assert form.cached_per_token == SIZES["kv_lora_rank"] + SIZES["qk_rope_head_dim"]
        assert {tensor.shape[:2] for tensor in form.cached.values()} == {(2, 7)}
    first, second = decode(trace)
    rebuilt = sum(tensor[0, :, 0].numel() for tensor in first.rebuilt.values())
    assert rebuilt == SIZES["n_heads"] * (8 + 6)
    assert not second.rebuilt


def test_the_absorbed_matrices_are_literal() -> None:
    """Content scores from latents alone, and the output from mixed latents alone."""
    trace = trace_of()
    products = absorb(trace.parameters, 3)
    assert products.query.shape == (3, 14, 10)
    assert products.output.shape == (3, 10, 24)
    c_q, c = (trace[word].tensor for word in ("query_latent_normed", "latent_normed"))
    query, key = (trace[f"{word}_heads"].tensor for word in ("query", "key"))
    scores = torch.einsum("bim,hmn,bjn->bhij", c_q, products.query, c)
    assert largest_difference(scores, query @ key.mT) < 1e-12
    output = torch.einsum("bhij,bjn,hnd->bid", trace.weights, c, products.output)
    assert largest_difference(output, trace.output) < 1e-12


@pytest.mark.parametrize("n_queries", [1, 4, 7])
def test_flops_are_those_that_torch_counts(n_queries: int) -> None:
    trace = trace_of()
    sizes = trace.dimensions
    given = {
        "query": trace["query_heads"].tensor[:1, :, -n_queries:],
        "query_position": trace["query_position_rotated"].tensor[:1, :, -n_queries:],
        "cached": {
            "latent": trace["latent_normed"].tensor[:1],
            "key_position": trace["key_position_rotated"].tensor[:1],
        },
        "W": trace.parameters,
        "allowed": None,
        "scale": 1.0,
    }
    for form, cost in zip((naive, absorbed), decoding_costs(sizes, 7, n_queries), strict=True):
        with FlopCounterMode(display=False) as counter:
            form(**given)
        assert counter.get_total_flops() == cost.flops


def test_bytes_are_the_tensors_that_are_read_and_written() -> None:
    trace = trace_of()
    first, second = decode(trace, 2)
    W = trace.parameters
    both = sum(W[word].numel() for word in ("W_uk", "W_uv", "W_o"))
    both += sum(tensor[0].numel() for tensor in first.cached.values())
    both += trace["query_joined"].tensor[0, :, -2:].numel() + first.output[0].numel()
    rebuilt = sum(tensor[0].numel() for tensor in first.rebuilt.values())
    carried = 2 * 3 * 2 * SIZES["kv_lora_rank"]  # queries and mixtures in the latents' space
    costs = decoding_costs(trace.dimensions, 7, 2, bytes_per_number=8)
    assert [cost.bytes for cost in costs] == [8 * (both + 2 * rebuilt), 8 * (both + 2 * carried)]
    assert second.output.shape == (2, 2, 24)


@pytest.mark.parametrize("n_keys", [16, 1024, 65536])
def test_absorbed_wins_for_few_queries_and_naive_for_many(n_keys: int) -> None:
    turn = naive_is_cheaper_from(V2, n_keys)
    assert turn is not None
    assert turn > 1
    for n_queries in (1, turn - 1, turn, 2 * turn):
        first, second = decoding_costs(V2, n_keys, n_queries)
        assert (first.flops < second.flops) == (n_queries >= turn)
    first, second = decoding_costs(V2, n_keys, 1)
    assert second.bytes < first.bytes


def test_small_latents_always_win() -> None:
    assert naive_is_cheaper_from(V2 | {"kv_lora_rank": 8}, 1000) is None


def test_with_rotated_content_the_matrix_depends_on_the_distance() -> None:
    trace = trace_of()
    M = coupled_matrices(trace.parameters, 3, 7)
    assert largest_difference(M[:, 0], absorb(trace.parameters, 3).query) < 1e-12
    cos, sin = rotary_tables(7, 8)
    R = torch.zeros(7, 8, 8, dtype=torch.float64)
    for channel in range(8):
        partner, sign = (channel + 4, -1) if channel < 4 else (channel - 4, 1)
        R[:, channel, channel] = cos[:, channel]
        R[:, partner, channel] = sign * sin[:, channel]
    up_query, up_key = (trace.parameters[w].unflatten(1, (3, 8)) for w in ("W_uq", "W_uk"))
    expected = torch.einsum("mhc,tce,nhe->htmn", up_query, R, up_key)
    assert largest_difference(M, expected) < 1e-12


def test_what_absorbing_one_matrix_would_cost() -> None:
    found = coupling(trace_of())
    assert bool((found.matrix_change[:, 0] == 0).all())
    assert bool((found.matrix_change[:, 1:] > 0.2).all())
    assert bool((found.moved[:, 0] < 1e-12).all())  # the first query sees itself alone
    assert float(found.moved[:, 1:].mean()) > 0.05


def test_what_cannot_be_decoded_is_told() -> None:
    with pytest.raises(av.AttnvizError, match="of the variant 'latent'; received a run of 'multi"):
        decode(av.run("multi_head", rotary("float32"), n_heads=2))
    with pytest.raises(av.AttnvizError, match="from 1 to 7; received 8"):
        decode(trace_of(), 8)
    with pytest.raises(av.AttnvizError, match="on one sequence; received cross-attention"):
        coupling(av.run("latent", rotary("float64"), context=rotary("float64"), **SIZES))

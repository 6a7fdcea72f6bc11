"""The bill of a run against PyTorch's own counter of operations, and the tensors' own bytes."""

from __future__ import annotations

import pytest

import attnviz as av
from attnviz import masks
from attnviz.cost.counts import bill, counted

X = av.random_inputs(7, 24, batch=2, seed=1)
SOFTMAX = ("scaled_dot_product", "multi_head", "grouped_query")


@pytest.mark.parametrize("name", SOFTMAX)
@pytest.mark.parametrize("cross", [False, True])
def test_softmax_variants_cost_what_pytorch_counts(name: str, cross: bool) -> None:
    context = av.random_inputs(5, 24, batch=2, seed=2) if cross else None
    told = bill(av.run(name, X, context=context))
    total = counted(lambda: av.run(name, X, context=context))
    assert sum(line.amount for line in told if line.unit == "operations") == total


@pytest.mark.parametrize("name", av.variants.names())
def test_bytes_are_those_of_the_tensors(name: str) -> None:
    trace = av.run(name, X)
    amounts = {line.what.split(",")[0]: line.amount for line in bill(trace)}
    if trace.state is not None:
        assert amounts["State kept"] == trace.state.nbytes
    else:
        assert amounts.get("Keys and values kept", 1) > 0
    assert all(line.amount > 0 for line in bill(trace))


@pytest.mark.parametrize("name", SOFTMAX)
def test_the_cache_is_that_of_keys_and_values(name: str) -> None:
    trace = av.run(name, X)
    words = ("key", "value") if name == "scaled_dot_product" else ("key_heads", "value_heads")
    assert bill(trace)[-1].amount == sum(trace[word].tensor.nbytes for word in words)


def test_a_state_costs_the_same_however_long_the_text() -> None:
    short, long = (bill(av.run("delta_rule", av.random_inputs(n, 24))) for n in (5, 50))
    assert short[2].amount == long[2].amount
    assert long[1].amount == 10 * short[1].amount


def test_the_recurrence_costs_what_its_sums_say() -> None:
    """Counted by hand for one head, d_k = 3, d_v = 2, and one token: 7 products or sums a cell."""
    x = av.random_inputs(1, 4)
    trace = av.run("delta_rule", x, n_heads=1, head_dim=3, v_head_dim=2)
    # fade 6, look up 6 products and 6 sums, write 6 and 6, read 6 and 6
    assert bill(trace)[1].amount == 6 * 7


def test_masked_cells_cost_what_others_do() -> None:
    free, masked = (bill(av.run("multi_head", X, mask=m)) for m in (None, masks.causal()))
    assert free[1].amount == masked[1].amount

"""The arithmetic of a cell, evaluated, must be the cell."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
import torch

import attnviz as av
from attnviz import masks
from attnviz.variants.arithmetic import Arithmetic, explain
from attnviz.variants.written import Term, number, plain

X = av.random_inputs(5, 8, batch=2, seed=3)
C = av.random_inputs(3, 8, batch=2, seed=4)
SINUSOIDAL = av.random_inputs(5, 8, batch=2, seed=3, positions="sinusoidal")
ROTARY = av.random_inputs(5, 8, batch=2, seed=3, positions="rotary")
HALF = masks.causal() & ~masks.prefix(1)  # query 0 sees nothing

RUNS = {
    "one head": av.run("scaled_dot_product", X, head_dim=6, v_head_dim=4, mask=masks.causal()),
    "one head, cross": av.run("scaled_dot_product", X, context=C, scale=False),
    "sinusoidal": av.run("scaled_dot_product", SINUSOIDAL, temperature=0.5),
    "rotary": av.run("scaled_dot_product", ROTARY, scale=0.3),
    "many heads": av.run("multi_head", X, n_heads=2, mask=masks.padding([5, 2])),
    "shared heads, rotary": av.run("grouped_query", ROTARY, n_heads=4, n_kv_heads=2, scale=0.2),
    "shared by neighbours": av.run("grouped_query", X, n_heads=4, n_kv_heads=2, context=C),
    "empty row": av.run("multi_head", X, n_heads=2, mask=HALF, empty_rows="zero"),
    "a state instead of a cache": av.run("linear", X, n_heads=2),
    "bias, cap and sink": av.run(
        "grouped_query", X, n_heads=4, bias="alibi", softcap=5, sink="learned", mask=masks.causal()
    ),
    "a network compares": av.run("additive", X, head_dim=3, context=C),
    "latents": av.run("latent", ROTARY, n_heads=2),
    "latents, yarn and gate": av.run(
        "gated_latent", ROTARY, n_heads=2, yarn=40, gate="channel", head_dim=8
    ),
    "blended maps": av.run(
        "multi_token", X, mask=masks.causal(), convolution="both", head_mixing="both"
    ),
    "selected keys": av.run("sparse_topk", X, mask=masks.causal(), top_k=2, n_kv_heads=2),
    "pressed keys": av.run("linformer", ROTARY, places=2),
    "a map a channel": av.run("hyena", X, n_channels=3),
    "windows": av.run("shifted_window", X, n_heads=2, window=2, shift="half"),
    "float64": av.run("grouped_query", X, n_heads=4, n_kv_heads=1, dtype="float64"),
}


def evaluated(made: Arithmetic) -> float:
    """The terms worked out here, apart from the code under test."""

    def total(terms: Sequence[Term]) -> float:
        result = 0.0
        for term in terms:
            a, *others = term.factors
            if term.kind == "power":
                result += math.exp(a - others[0])
            else:
                for factor in others:
                    a *= factor
                result += a
        return result

    return total(made.terms) / (total(made.divisor) if made.divisor else 1.0)


@pytest.mark.parametrize("trace", RUNS.values(), ids=RUNS.keys())
def test_terms_make_the_cell(trace: av.Trace) -> None:
    for step in trace.steps:
        for place in torch.cartesian_prod(*(torch.arange(size) for size in step.shape)).tolist():
            made = explain(trace, step.name, tuple(place))
            expected = float(step.tensor[tuple(place)])
            assert evaluated(made) == pytest.approx(expected, rel=1e-6, abs=1e-6), (
                step.name,
                place,
            )
            assert made.value == pytest.approx(expected, rel=1e-6, abs=1e-6)


def test_every_operation_is_among_them() -> None:
    from attnviz.variants.operations import OPERATIONS

    seen = {step.origin.operation for trace in RUNS.values() for step in trace.steps}
    assert seen == set(OPERATIONS)


def test_a_score_is_written_out() -> None:
    trace = RUNS["one head"]
    made = explain(trace, "scores", (0, 2, 1))
    query, key = trace["query"].tensor[0, 2], trace["key"].tensor[0, 1]
    assert [term.factors for term in made.terms] == [
        (pytest.approx(float(q)), pytest.approx(float(k))) for q, k in zip(query, key, strict=True)
    ]
    assert made.text.startswith("scores[2, 1] = ")
    assert made.text.endswith(f" = {plain(float(query @ key))}")
    assert made.latex.startswith(r"S[2, 1] = \sum_{c} Q[2, c]\; K[1, c] = ")
    assert made.sentence == "Query 2 (x2) times key 1 (x1), channel by channel, summed."


def test_scaling_shows_the_square_root() -> None:
    made = explain(RUNS["one head"], "scaled", (0, 2, 1))
    assert r"\sqrt{6}" in made.latex
    assert "square root of d_k = 6" in made.sentence
    off = explain(RUNS["one head, cross"], "scaled", (0, 2, 1))
    assert "sqrt" not in off.latex
    assert "not scaled" in off.sentence


def test_a_hidden_key_is_told() -> None:
    trace = RUNS["one head"]
    assert r"-\infty" in explain(trace, "masked", (0, 1, 3)).latex
    assert "may not look at key 3" in explain(trace, "masked", (0, 1, 3)).sentence
    assert explain(trace, "weights", (0, 1, 3)).sentence == "Key 3 (x3) is hidden: weight 0."
    shares = explain(trace, "weights", (0, 1, 0)).divisor
    assert len(shares) == 2  # only the keys that query 1 may look at


def test_long_sums_are_shortened_in_writing_only() -> None:
    trace = av.run("scaled_dot_product", av.random_inputs(3, 64))
    made = explain(trace, "query", (0, 0, 0))
    assert len(made.terms) == 64
    assert "(57 more)" in made.text
    assert "57 more" in made.latex
    assert made.text.count("×") == 7


def test_a_cell_that_is_not_there() -> None:
    with pytest.raises(av.AttnvizError, match=r"'weights' of shape \(2, 5, 5\) has no cell"):
        explain(RUNS["one head"], "weights", (0, 5, 0))
    with pytest.raises(av.AttnvizError, match="has no step 'logits'"):
        explain(RUNS["one head"], "logits", (0, 0, 0))


@pytest.mark.parametrize(
    ("value", "latex", "text"),
    [
        (0.0, "0", "0"),
        (1.2345, "1.234", "1.234"),
        (-0.5, "-0.500", "−0.500"),
        (0.01234, "0.0123", "0.0123"),
        (0.0012345, "0.00123", "0.00123"),
        (-1.5e-7, r"-1.50 \times 10^{-7}", "−1.50 × 10^−7"),
        (-math.inf, r"-\infty", "−∞"),
    ],
)
def test_numbers(value: float, latex: str, text: str) -> None:
    assert (number(value), plain(value)) == (latex, text)

"""What all recurrent variants promise: kernels that agree, states on request, odd inputs."""

from __future__ import annotations

import time

import pytest
import torch

import attnviz as av
from attnviz import masks
from tests.variants.cases import EMOJI, largest_difference, relative_difference
from tests.variants.recurrent_cases import D_MODEL, EXACT, LENGTH, RECURRENT, inputs, state_for


@pytest.mark.parametrize("dtype", EXACT)
@pytest.mark.parametrize("name", RECURRENT)
def test_chunks_agree_with_the_recurrence(name: str, dtype: str) -> None:
    x = inputs(dtype)
    start = state_for(name, av.run(name, x, n_heads=3))
    reference = av.run(name, x, n_heads=3, initial_state=start)
    fast = av.run(name, x, n_heads=3, initial_state=start, kernel="chunked")
    assert reference.state is not None
    assert fast.state is not None
    assert relative_difference(reference.output, fast.output) < EXACT[dtype]
    assert relative_difference(reference.state, fast.state) < EXACT[dtype]
    with pytest.raises(av.AttnvizError, match="without keeping the weights"):
        _ = fast.weights


@pytest.mark.parametrize("name", RECURRENT)
def test_a_run_can_be_continued_from_its_state(name: str) -> None:
    x = inputs()
    whole = av.run(name, x, n_heads=3)
    first = av.run(name, av.Inputs(x.embeddings[:, :30]), n_heads=3)
    rest = av.run(name, av.Inputs(x.embeddings[:, 30:]), n_heads=3, initial_state=first.state)
    assert largest_difference(rest.output, whole.output[:, 30:]) < 1e-12


@pytest.mark.parametrize("name", RECURRENT)
def test_the_state_at_any_token(name: str) -> None:
    x = inputs()
    trace = av.run(name, x, n_heads=3)
    for token in (0, 40, LENGTH - 1):
        shorter = av.run(name, av.Inputs(x.embeddings[:, : token + 1]), n_heads=3)
        state = av.variants.state_at(trace, token)
        assert shorter.state is not None
        assert largest_difference(state, shorter.state) < 1e-12
        norm = trace["state_norm"].tensor[:, :, token]
        assert largest_difference(state.norm(dim=(-2, -1)), norm) < 1e-12
    assert not av.variants.state_at(trace, -1).any()
    with pytest.raises(av.AttnvizError, match=r"from -1 .* to 69; received 70"):
        av.variants.state_at(trace, LENGTH)


@pytest.mark.parametrize("kernel", ["reference", "chunked"])
@pytest.mark.parametrize("name", RECURRENT)
def test_one_token_two_tokens_and_emoji(name: str, kernel: str) -> None:
    texts = av.text_inputs(EMOJI, d_model=D_MODEL)
    for x in (inputs(length=1), inputs(length=2), texts):
        trace = av.run(name, x, kernel=kernel)
        assert trace.output.shape == (x.embeddings.shape[0], x.length, D_MODEL)
        assert len(trace.query_tokens) == x.length
    turned = av.text_inputs(EMOJI, d_model=D_MODEL, positions="rotary")
    assert bool(av.run(name, turned, kernel=kernel).output.isfinite().all())


@pytest.mark.parametrize("name", RECURRENT)
def test_2048_tokens_are_quick_in_chunks(name: str) -> None:
    x = av.Inputs(torch.randn(1, 2048, D_MODEL, generator=torch.Generator().manual_seed(0)))
    started = time.process_time()
    trace = av.run(name, x, kernel="chunked")
    assert time.process_time() - started < 5.0
    assert trace.output.shape == (1, 2048, D_MODEL)


@pytest.mark.parametrize("name", RECURRENT)
def test_steps_are_told_and_the_source_is_what_ran(name: str) -> None:
    trace = av.run(name, inputs(length=5), n_heads=3)
    assert all(step.formula and step.note and step.symbol for step in trace.steps)
    assert trace.allowed is not None
    assert not trace.allowed[0, 0, 0, 1]
    source = av.variants.source(name)
    for function in ("def compute(", "def prepare(", "def recurrence(", "def recur("):
        assert f"\n{function}" in f"\n{source}"


BAD = {
    "other mask": ({"mask": masks.sliding_window(2)}, "linear is causal by itself.*sliding"),
    "context": ({"context": inputs()}, "no cross-attention"),
    "kernel": (
        {"kernel": "sdpa"},
        "kernel must be 'reference' or 'chunked' or 'fla'; received 'sdpa'",
    ),
    "state": ({"initial_state": torch.zeros(2, 4, 6, 6)}, r"\(2, 4, 6, 7\), the last column"),
    "option": ({"feature_map": "cos"}, "feature_map must be one of elu, relu, exp, softmax"),
    "no state": ({"name": "multi_head", "initial_state": torch.zeros(1)}, "keeps no state"),
    "no option": ({"name": "multi_head", "feature_map": "elu"}, "no dimension 'feature_map'"),
}


@pytest.mark.parametrize(("change", "sentence"), BAD.values(), ids=BAD.keys())
def test_bad_arguments_are_told_in_a_sentence(change: dict, sentence: str) -> None:
    with pytest.raises(av.AttnvizError, match=sentence):
        av.run(**{"name": "linear", "inputs": inputs(), **change})

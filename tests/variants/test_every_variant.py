"""What every variant is held to: any length, any text, float64, no look ahead, named errors."""

from __future__ import annotations

import pytest
import torch

import attnviz as av
from attnviz import masks
from attnviz.errors import EmptyRowError
from tests.variants.cases import (
    CAUSAL_BY_ITSELF,
    EMOJI,
    NEVER_CAUSAL,
    OWN_QUERIES,
    asking,
    fitting_mask,
    largest_difference,
)
from tests.variants.recurrent_cases import RECURRENT

NAMES = av.variants.names()
WITHOUT_HEADS = ("scaled_dot_product", "additive", "hyena")
LONG = 2048


def small(name: str) -> dict[str, int]:
    """One map, so that 2,048 tokens are quick."""
    if name in ("scaled_dot_product", "additive"):
        return {}
    if name == "hyena":
        return {"n_channels": 1}
    return {"multi_token": {"n_heads": 1, "head_group": 1}, "grouped_query": {"n_kv_heads": 1}}.get(
        name, {}
    ) | {"n_heads": 1}


def fine(trace: av.Trace, length: int, d_model: int) -> None:
    assert all(bool(step.tensor.isfinite().all()) for step in trace.steps if step.name != "masked")
    n_queries = OWN_QUERIES.get(trace.variant, length)
    assert trace.output.shape == (1, n_queries, d_model)
    assert trace.weights.shape[-2:] == (n_queries, length)
    if trace.weights_kind == "softmax":
        sums = trace.weights.sum(-1)
        assert largest_difference(sums, torch.ones_like(sums)) < 1e-5


@pytest.mark.parametrize("length", [1, 2])
@pytest.mark.parametrize("name", NAMES)
def test_one_token_and_two(name: str, length: int) -> None:
    x = av.random_inputs(length, 16, seed=1)
    fine(av.run(name, x, mask=fitting_mask(name)), length, 16)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in RECURRENT])
def test_2048_tokens(name: str) -> None:
    """Recurrent mixers: test_recurrent.py, in chunks."""
    x = av.random_inputs(LONG, 8, seed=1)
    kernel = av.variants.find(name).fast
    trace = av.run(name, x, mask=fitting_mask(name), **small(name))
    fine(trace, LONG, 8)
    if kernel:
        fast = av.run(name, x, mask=fitting_mask(name), kernel=kernel, **small(name))
        scale = max(1.0, float(trace.output.abs().max()))
        assert largest_difference(fast.output, trace.output) < 1e-4 * scale


@pytest.mark.parametrize("name", NAMES)
def test_emoji_and_scripts(name: str) -> None:
    x = av.text_inputs(EMOJI, d_model=16)
    trace = av.run(name, x, mask=fitting_mask(name))
    fine(trace, x.length, 16)
    assert trace.key_tokens == x.tokens
    assert trace.query_tokens == x.tokens or name in OWN_QUERIES


@pytest.mark.parametrize("name", NAMES)
def test_float64_is_kept_to_the_end(name: str) -> None:
    x = asking("float64")
    trace = av.run(name, x, mask=fitting_mask(name))
    assert {step.tensor.dtype for step in trace.steps} == {torch.float64}
    single = av.run(name, x, mask=fitting_mask(name), dtype="float32")
    difference = largest_difference(trace.output, single.output.double())
    assert 0 < difference < 1e-4 * max(1.0, float(trace.output.abs().max()))


@pytest.mark.parametrize("name", NAMES)
def test_a_row_without_keys_is_a_named_error(name: str) -> None:
    hidden = masks.causal() & ~masks.prefix(1)
    error, sentence = EmptyRowError, "Query 0 .*has no key it may look at"
    if name in CAUSAL_BY_ITSELF:
        error, sentence = av.AttnvizError, "causal by itself"
    with pytest.raises(error, match=sentence):
        av.run(name, asking(), mask=hidden)


@pytest.mark.parametrize("name", NAMES)
def test_heads_that_do_not_divide_are_a_named_error(name: str) -> None:
    sentence = "cannot be dealt out evenly to n_heads = 5"
    if name in WITHOUT_HEADS:
        sentence = f"{name} has no dimension 'n_heads'"
    kv = {"n_kv_heads": 5} if name == "grouped_query" else {}
    group = {"head_group": 1} if name == "multi_token" else {}
    with pytest.raises(av.AttnvizError, match=sentence):
        av.run(name, asking(), n_heads=5, **kv, **group)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", [name for name in NAMES if name not in NEVER_CAUSAL])
def test_no_output_knows_what_comes_after(name: str, seed: int) -> None:
    """Any token changed, anywhere: the outputs before it stay to the last bit or so."""
    length = 9
    x = av.Inputs(av.random_inputs(length, 16, seed=seed).embeddings.double())
    options = {word: choices[seed % len(choices)] for word, choices in
               av.variants.find(name).options.items()}  # fmt: skip
    before = av.run(name, x, mask=masks.causal(), seed=seed, **options)
    for place in (1 + seed, length - 1):
        changed = x.embeddings.clone()
        changed[:, place] += 1.0
        after = av.run(name, av.Inputs(changed), mask=masks.causal(), seed=seed, **options)
        bound = 1e-14 * max(1.0, float(before.output.abs().max()))
        assert largest_difference(after.output[:, :place], before.output[:, :place]) <= bound
        assert largest_difference(after.output[:, place:], before.output[:, place:]) > 1e-3


@pytest.mark.parametrize("name", NEVER_CAUSAL)
def test_what_never_is_causal_says_so(name: str) -> None:
    with pytest.raises(av.AttnvizError, match="can hide a key from all"):
        av.run(name, asking(), mask=masks.causal())


def test_the_registry_says_which_masks_there_are() -> None:
    said = {
        kind: tuple(name for name in NAMES if av.variants.find(name).causal == kind)
        for kind in ("always", "never")
    }
    assert said == {"always": CAUSAL_BY_ITSELF, "never": NEVER_CAUSAL}

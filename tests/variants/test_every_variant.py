"""What every variant is held to: any length, any text, float64, no look ahead, named errors."""

from __future__ import annotations

from inspect import signature

import pytest
import torch

import attnviz as av
from attnviz import masks
from attnviz.errors import EmptyRowError
from attnviz.pictures import shapes
from tests.variants.cases import (
    CAUSAL_BY_ITSELF,
    EMOJI,
    NEVER_CAUSAL,
    OWN_QUERIES,
    asking,
    fitting_mask,
    largest_difference,
)
from tests.variants.table import ROWS, applying, without

NAMES = av.variants.names()
LONG = 2048


def test_the_table_has_a_row_for_every_variant() -> None:
    assert tuple(ROWS) == NAMES
    for name, row in ROWS.items():
        dimensions = signature(av.variants.find(name).dimensions).parameters
        assert (row["heads"] == "yes") == ("n_heads" in dimensions)
        grouping = [word for word in dimensions if word in GROUPINGS]
        assert [row["groups"]] == (grouping or ["-"])


GROUPINGS = {"n_kv_heads": 4, "n_key_heads": 4, "head_group": 4}
"""What deals heads out to groups, and a number that does not divide 6."""


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


@pytest.mark.parametrize(
    ("name", "length"),
    [(name, 1) for name in applying("one")] + [(name, 2) for name in applying("two")],
)
def test_one_token_and_two(name: str, length: int) -> None:
    x = av.random_inputs(length, 16, seed=1)
    fine(av.run(name, x, mask=fitting_mask(name)), length, 16)


@pytest.mark.parametrize("name", applying("long"))
def test_2048_tokens(name: str) -> None:
    """Every step kept, and the same from the fast kernel."""
    x = av.Inputs(torch.randn(1, LONG, 8, generator=torch.Generator().manual_seed(1)))
    kernel = av.variants.find(name).fast
    trace = av.run(name, x, mask=fitting_mask(name), **small(name))
    fine(trace, LONG, 8)
    if kernel:
        fast = av.run(name, x, mask=fitting_mask(name), kernel=kernel, **small(name))
        scale = max(1.0, float(trace.output.abs().max()))
        assert largest_difference(fast.output, trace.output) < 1e-4 * scale


@pytest.mark.parametrize("name", applying("emoji"))
def test_emoji_and_scripts(name: str) -> None:
    x = av.text_inputs(EMOJI, d_model=16)
    trace = av.run(name, x, mask=fitting_mask(name))
    fine(trace, x.length, 16)
    assert trace.key_tokens == x.tokens
    assert trace.query_tokens == x.tokens or name in OWN_QUERIES


@pytest.mark.parametrize("name", applying("image"))
def test_an_image(name: str) -> None:
    """Its patches are the tokens, with their grid."""
    x = av.image_inputs(shapes(1, 48)[:32], patch=8, d_model=16)
    assert x.grid == (4, 6)
    trace = av.run(name, x)
    fine(trace, 24, 16)
    assert trace.key_tokens[7] == "r1c1"


@pytest.mark.parametrize("name", applying("float64"))
def test_float64_is_kept_to_the_end(name: str) -> None:
    x = asking("float64")
    trace = av.run(name, x, mask=fitting_mask(name))
    assert {step.tensor.dtype for step in trace.steps} == {torch.float64}
    single = av.run(name, x, mask=fitting_mask(name), dtype="float32")
    difference = largest_difference(trace.output, single.output.double())
    assert 0 < difference < 1e-4 * max(1.0, float(trace.output.abs().max()))


HIDDEN = {True: masks.causal() & ~masks.prefix(1), False: masks.padding([0, 7])}
"""Of a mask that depends on the query, and of one that does not: a row without any key."""


@pytest.mark.parametrize("name", applying("empty_row"))
def test_a_row_without_keys_is_a_named_error(name: str) -> None:
    with pytest.raises(EmptyRowError, match=r"Query 0 .*has no key it may look at"):
        av.run(name, asking(), mask=HIDDEN[name in applying("causal")])


@pytest.mark.parametrize("name", without("empty_row"))
def test_what_takes_no_mask_says_so(name: str) -> None:
    with pytest.raises(av.AttnvizError, match="causal by itself"):
        av.run(name, asking(), mask=HIDDEN[True])


@pytest.mark.parametrize("name", applying("heads"))
def test_features_that_do_not_divide_are_a_named_error(name: str) -> None:
    kv = {"n_kv_heads": 5} if name == "grouped_query" else {}
    group = {"head_group": 1} if name == "multi_token" else {}
    with pytest.raises(av.AttnvizError, match="cannot be dealt out evenly to n_heads = 5"):
        av.run(name, asking(), n_heads=5, **kv, **group)


@pytest.mark.parametrize("name", without("heads"))
def test_what_has_no_heads_says_so(name: str) -> None:
    with pytest.raises(av.AttnvizError, match=f"{name} has no dimension 'n_heads'"):
        av.run(name, asking(), n_heads=5)


@pytest.mark.parametrize("name", applying("groups"))
def test_heads_that_groups_do_not_divide_are_a_named_error(name: str) -> None:
    word = ROWS[name]["groups"]
    with pytest.raises(av.AttnvizError, match=f"n_heads = 6.*{word} = 4"):
        av.run(name, asking(), n_heads=6, **{word: GROUPINGS[word]})


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", applying("causal"))
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


@pytest.mark.parametrize("name", without("causal"))
def test_what_never_is_causal_says_so(name: str) -> None:
    with pytest.raises(av.AttnvizError, match="can hide a key from all"):
        av.run(name, asking(), mask=masks.causal())


def test_the_registry_says_which_masks_there_are() -> None:
    said = {
        kind: tuple(name for name in NAMES if av.variants.find(name).causal == kind)
        for kind in ("always", "never")
    }
    assert said == {"always": CAUSAL_BY_ITSELF, "never": NEVER_CAUSAL}

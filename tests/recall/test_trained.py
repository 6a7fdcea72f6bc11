"""The trained stacks as shipped, on fresh sequences; their mixers against the registry's."""

from __future__ import annotations

import pickle
from itertools import pairwise

import pytest
import torch

from attnviz import variants
from attnviz.errors import AttnvizError
from attnviz.hybrid.stack import normed
from attnviz.inputs import Inputs
from attnviz.masks import causal
from attnviz.recall.pairs import KEYS, PAIRS, VALUES, draw
from attnviz.recall.stacks import SIZES, STACKS, WIDTH, Mixer, Stack
from attnviz.recall.trained import TrainedRecall, held_out, load, record


@pytest.fixture(scope="module")
def table():
    return TrainedRecall(sequences=100, seed=77).run(lambda fraction, text: None)


def test_accuracy_rises_with_the_share_of_full_layers(table) -> None:
    means = table.groupby("stack", sort=False)["accuracy"].mean()
    assert list(means.index) == list(STACKS)
    assert means["all full"] >= 0.99
    assert all(fewer <= more + 0.005 for fewer, more in pairwise(means))
    assert means["all linear"] < 0.5 < means["6:1"]
    assert means["all linear"] > 2 / VALUES  # it learnt something
    assert table.groupby("stack")["seed"].nunique().min() >= 3


def test_the_record_is_of_these_weights(table) -> None:
    recorded = {(row["stack"], row["seed"]): row["accuracy"] for row in record()["accuracy"]}
    for row in table.itertuples():
        assert abs(recorded[row.stack, row.seed] - row.accuracy) < 0.05
    assert {"script", "date", "versions", "steps", "batch"} <= set(record())


def test_a_sequence_holds_each_pair_once_and_asks_for_each_key() -> None:
    tokens, wanted = draw(50, torch.Generator().manual_seed(3))
    for line, values in zip(tokens.tolist(), wanted.tolist(), strict=True):
        pairs = dict(zip(line[: 2 * PAIRS : 2], line[1 : 2 * PAIRS : 2], strict=True))
        asked = line[2 * PAIRS :]
        assert len(pairs) == PAIRS
        assert sorted(asked) == sorted(pairs)
        assert [pairs[key] - KEYS for key in asked] == values


@pytest.mark.parametrize("name", ["linear", "multi_head"])
def test_a_layer_is_the_registrys_variant_on_the_same_weights(name: str) -> None:
    x = torch.randn(2, 30, WIDTH, generator=torch.Generator().manual_seed(0))
    tokens = tuple("a" * 30)
    trace = variants.run(name, Inputs(x, tokens), mask=causal(), seed=5, **SIZES)
    assert torch.allclose(Mixer(name, 5)(x), trace.output, atol=1e-5)


@pytest.mark.parametrize("word", ["all linear", "6:1"])
def test_a_trained_layer_is_the_variant_walked_token_by_token(word: str) -> None:
    stack = load(word, 0)
    tokens, _ = held_out(4)
    x = normed(stack.E[tokens])
    for mixer in stack.layers:
        allowed = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).tril()[None, None]
        steps = mixer.variant.compute(x, x, dict(mixer.W.items()), allowed, mixer.setup)
        assert torch.allclose(mixer(x), steps["output"], rtol=1e-4, atol=1e-4)


def test_bytes_are_those_of_the_tensors_that_it_would_keep(table) -> None:
    length = held_out(1)[0].shape[1]
    for word, letters in STACKS.items():
        stack, kept = load(word, 0), 0
        for mixer, letter in zip(stack.layers, letters, strict=True):
            x = torch.zeros(1, length, WIDTH)
            allowed = torch.ones(length, length, dtype=torch.bool).tril()[None, None]
            steps = mixer.variant.compute(x, x, dict(mixer.W.items()), allowed, mixer.setup)
            names = ("key_heads", "value_heads") if letter == "F" else ("state",)
            kept += sum(steps[name].nbytes for name in names)
        row = table[(table["stack"] == word) & (table["seed"] == 0)].iloc[0]
        assert (row["bytes"], row["full"]) == (kept, letters.count("F"))


def test_a_stack_is_causal() -> None:
    stack = Stack("LF", 0)
    tokens, _ = held_out(2)
    changed = tokens.clone()
    changed[:, -1] = (changed[:, -1] + 1) % KEYS
    with torch.no_grad():
        assert torch.equal(stack(tokens, PAIRS)[:, :-1], stack(changed, PAIRS)[:, :-1])


def test_the_job_travels_and_says_what_is_out_of_range() -> None:
    job = TrainedRecall(sequences=3)
    assert pickle.loads(pickle.dumps(job)) == job  # noqa: S301 - our own bytes
    with pytest.raises(AttnvizError, match="sequences must be from 1"):
        TrainedRecall(sequences=0).run(lambda *_: None)

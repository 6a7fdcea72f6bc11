"""Attentions that are handed over: both nestings, every wrong tensor named for what it is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
import transformers as hf

import attnviz as av
from attnviz.errors import AttnvizError
from attnviz.figures import capture as figures
from attnviz.models.given import strings
from attnviz.models.interface import running
from tests.models.test_groups import pair
from tests.models.tiny import COMMON, build, eager, llama

IDS = (3, 14, 15, 9, 2, 6)


def generated(model: Any, ids: tuple[int, ...], new: int) -> Any:
    with running(model.model, "eager"):
        return model.model.generate(
            torch.tensor([ids]),
            max_new_tokens=new,
            min_new_tokens=new,
            do_sample=False,
            output_attentions=True,
            return_dict_in_generate=True,
            pad_token_id=0,
        )


def words(ids: Any) -> list[str]:
    return [f"t{int(token)}" for token in ids]


def test_a_forward_pass() -> None:
    own = eager(llama(), IDS).attentions
    capture = av.from_attentions(own, words(IDS))
    assert capture.n_tokens == 6
    assert [layer.index for layer in capture.captured] == [0, 1, 2]
    for layer in range(3):
        np.testing.assert_allclose(capture.weights(layer, 2), own[layer][0, 2], atol=1e-7)
    np.testing.assert_array_equal(capture.blocked(1), np.triu(np.ones((6, 6), bool), 1))
    assert capture.check.passed
    assert figures.capture_figure(capture, 1, 2).panels[0].rows.labels == tuple(words(IDS))


@pytest.mark.parametrize("sliding", [False, True])
def test_a_generation_is_one_forward_pass(sliding: bool) -> None:
    """Steps of layers, (6, 6), (1, 7), (1, 8): eight rows for nine tokens. Of sliding layers the
    later rows are as wide as the window, and belong at the end of what is there."""
    model = llama()
    if sliding:
        config = hf.Gemma3TextConfig(
            **COMMON | {"num_hidden_layers": 6}, num_key_value_heads=2, head_dim=8, sliding_window=4
        )
        model = build(config)
    ids = tuple(range(2, 12)) if sliding else IDS
    out = generated(model, ids, 3)
    tokens = out.sequences[0].tolist()
    capture = av.from_attentions(out.attentions, words(tokens))
    assert capture.n_tokens == len(tokens) - 1 == len(ids) + 2
    widths = [step[0].shape[-1] for step in out.attentions]
    assert widths == ([10, 4, 4] if sliding else [6, 7, 8])
    own = eager(model, tuple(tokens[:-1])).attentions
    for layer, maps in enumerate(own):
        for head in range(4):
            np.testing.assert_allclose(capture.weights(layer, head), maps[0, head], atol=1e-5)
    assert capture.token_details[-1].endswith(f"while predicting t{tokens[-1]}")


def test_cross_attention_names_both_sides() -> None:
    model = pair("t5")
    given = {"input_ids": torch.tensor([IDS]), "decoder_input_ids": torch.tensor([[0, 5, 7]])}
    with torch.no_grad(), running(model.model, "eager"):
        own = model.model(**given, output_attentions=True).cross_attentions
    capture = av.from_attentions(own, ["a", "b", "c"], key_tokens=words(IDS))
    assert capture.weights(1, 2).shape == (3, 6)
    assert capture.key_tokens == tuple(words(IDS))
    with pytest.raises(AttnvizError, match="3 queries and 6 tokens"):
        av.from_attentions(own, words(IDS))


def test_layers_that_have_none_keep_their_numbers() -> None:
    own = eager(llama(), IDS).attentions
    capture = av.from_attentions((None, own[1], None), words(IDS))
    assert [layer.index for layer in capture.captured] == [1]


GOOD = torch.full((1, 2, 3, 3), 1 / 3)
WRONG = {
    "None": (None, "received none"),
    "empty": ((), "received none"),
    "steps of nothing": (((), ()), "received none"),
    "hidden states": ((torch.randn(1, 3, 8),), r"four axes.*\(1, 3, 8\).*outputs.attentions"),
    "one vector": (np.ones(4), r"four axes.*received shape \(\)"),
    "words": ([["a"]], "received str"),
    "a batch": ((torch.cat([GOOD, GOOD]),), "a batch of 2 examples"),
    "scores": ((GOOD - 1,), "negative numbers .*scores"),
    "unnormalised": ((GOOD * 2,), "Row 0 of layer 0, head 0 sums to 2"),
    "nan": ((GOOD * torch.nan,), "not finite"),
    "another length": ((GOOD, torch.full((1, 2, 4, 4), 0.25)), "Layer 1 has 4 queries"),
    "a number": (3, "received int"),
    "no heads": ((GOOD[:, :0],), r"nothing in the attentions.*\(1, 0, 3, 3\)"),
    "no tokens": ((GOOD[:, :, :0, :0],), "nothing in the attentions"),
    "sparse": ((GOOD.to_sparse(),), "to_dense"),
    "complex": ((GOOD.to(torch.complex64),), "complex"),
    "a step that is None": (((GOOD,), None), "Step 1 .* is a NoneType"),
    "a step of other heads": (((GOOD,), (torch.ones(1, 3, 1, 1),)), "Step 1 has 1 .* 3 heads"),
    "a step of a batch": (((GOOD,), (torch.ones(2, 2, 1, 1),)), "Step 1 has 2 examples"),
    "wide": ((torch.full((1, 2, 3, 5), 0.2),), "3 queries and 5 keys.*key_tokens"),
}


@pytest.mark.parametrize("name", WRONG)
def test_the_check_that_failed_is_named(name: str) -> None:
    attentions, says = WRONG[name]
    with pytest.raises(AttnvizError, match=says):
        av.from_attentions(attentions, ["a", "b", "c"])


def test_as_many_tokens_as_rows() -> None:
    with pytest.raises(AttnvizError, match="3 queries and 5 tokens"):
        av.from_attentions((GOOD,), ["a"] * 5)


def test_half_precision_is_believed_within_its_rounding() -> None:
    capture = av.from_attentions((GOOD.bfloat16(),), ["a", "<b>", ""])
    assert capture.weights(0, 0).dtype == np.float32
    assert capture.tokens == ("a", "<b>", "∅")


@pytest.mark.parametrize(
    ("tokens", "says"),
    [(None, "received NoneType"), (3, "received int"), ([5, 7], "received int among them")],
)
def test_tokens_are_texts(tokens: Any, says: str) -> None:
    with pytest.raises(AttnvizError, match=says):
        strings(tokens)


def test_equal_tokens_are_one_token() -> None:
    """So that a head that looks for the same word again can be told from others."""
    capture = av.from_attentions((torch.full((1, 2, 4, 4), 0.25),), ["a", "b", "a", "b"])
    assert capture.token_ids == (0, 1, 0, 1)

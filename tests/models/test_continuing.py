"""What a model writes on, read in one pass: the rows of the very steps that wrote it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import transformers as hf

import attnviz as av
from attnviz.errors import AttnvizError, Cancelled, ModelError, TooLargeError
from attnviz.models import LoadedModel
from tests.models.test_chat import ASKED
from tests.models.test_chat import model as chatting
from tests.models.tiny import COMMON, build, llama

PROMPT = "the cat sat on the mat and the dog ran"  # 10 tokens
NEW = 3


def gemma(window: int = 4) -> LoadedModel:
    kinds = ["sliding_attention", "full_attention", "sliding_attention"]
    options = {**COMMON, "head_dim": 8, "num_key_value_heads": 2}
    return build(hf.Gemma3TextConfig(**options, sliding_window=window, layer_types=kinds))


def steps(model: LoadedModel, ids: list[int], count: int) -> tuple[list[int], list[list[Any]]]:
    """Tokens and each step's attentions by transformers' own eager generation."""
    before = model.model.config._attn_implementation
    model.model.set_attn_implementation("eager")
    try:
        out = model.model.generate(
            torch.tensor([ids]),
            attention_mask=torch.ones(1, len(ids), dtype=torch.long),
            max_new_tokens=count,
            do_sample=False,
            output_attentions=True,
            return_dict_in_generate=True,
        )
    finally:
        model.model.set_attn_implementation(before)
    return out.sequences[0].tolist(), [list(step) for step in out.attentions]


@pytest.mark.parametrize("made", [llama, gemma])
def test_the_rows_are_those_of_the_steps(made: Callable[[], LoadedModel]) -> None:
    model = made()
    seen: list[str] = []
    capture = av.capture(model, PROMPT, generate=NEW, progress=lambda _, words: seen.append(words))
    assert "Writing token 3 of at most 3" in seen
    ids, attentions = steps(model, list(capture.token_ids[:10]), NEW)
    assert capture.written is not None
    assert [*capture.token_ids, capture.written.ids[-1]] == ids
    assert (capture.n_prompt, capture.n_tokens, len(capture.written)) == (10, 12, 3)
    assert capture.tokens[10:] == capture.written.labels[:-1]
    assert len(attentions) == NEW
    for layer in range(3):
        window = capture.layers[layer].window
        rows = [capture.weights(layer, head) for head in range(4)]
        for number, step in enumerate(attentions):
            theirs = step[layer][0].numpy()  # (heads, queries, keys that the cache still has)
            last = 10 + number
            own = slice(0, 10) if number == 0 else slice(last - 1, last)
            at = slice(last - theirs.shape[2], last)  # absolute positions
            for head in range(4):
                np.testing.assert_allclose(rows[head][own, at], theirs[head], atol=1e-5)
                assert not rows[head][own, : at.start].any()
        if window is not None:
            assert not rows[0][11, : 12 - window].any()
            assert rows[0][11, 12 - window] > 0


def test_it_ends_where_the_model_ends_and_takes_the_likeliest_whatever_the_config_says() -> None:
    model = llama()
    plain = av.capture(model, PROMPT, generate=4)
    assert plain.written is not None
    model.model.generation_config.eos_token_id = plain.written.ids[1]
    model.model.generation_config.repetition_penalty = 3.0
    model.model.generation_config.do_sample = True
    ended = av.capture(model, PROMPT, generate=4)
    assert ended.written is not None
    first = plain.written.ids.index(plain.written.ids[1])
    assert ended.written.ids == plain.written.ids[: first + 1]
    assert ended.n_tokens == 10 + first
    probable = ended.next_tokens(1)
    assert probable is not None
    assert probable["token_id"][0] == ended.written.ids[-1]


def test_in_a_conversation_the_assistant_says_it() -> None:
    capture = av.capture(chatting(), messages=ASKED, generate=NEW)
    assert capture.written is not None
    assert capture.roles[capture.n_prompt - 1 :] == ("assistant",) * len(capture.written)
    assert len(capture.roles) == capture.n_tokens


def test_a_model_that_reads_otherwise_in_one_pass_is_refused() -> None:
    """LongRoPE turns by other frequencies beyond 12 tokens than those that the cache has."""
    rope = {
        "rope_type": "longrope",
        "rope_theta": 10_000.0,
        "factor": 4.0,
        "original_max_position_embeddings": 12,
        "short_factor": [1.0] * 4,
        "long_factor": [8.0] * 4,
    }
    model = llama(rope_parameters=rope)
    assert av.capture(model, PROMPT, generate=2).n_tokens == 11
    with pytest.raises(ModelError, match="reads its text otherwise in one pass"):
        av.capture(model, PROMPT, generate=6)


def test_what_cannot_write_is_told_in_words() -> None:
    with pytest.raises(AttnvizError, match="must be a number of tokens, 0 or more, not -1"):
        av.capture(llama(), PROMPT, generate=-1)
    encoder = build(hf.BertConfig(**COMMON), kind="encoder")
    with pytest.raises(AttnvizError, match="writes nothing of its own"):
        av.capture(encoder, PROMPT, generate=2)
    with pytest.raises(TooLargeError, match="to be written make 71 tokens"):
        av.capture(llama(), PROMPT, generate=62)


def test_it_can_be_stopped_while_it_writes() -> None:
    def leave(_: float, words: str) -> None:
        if words.startswith("Writing token 2"):
            raise Cancelled

    model = llama()
    with pytest.raises(Cancelled):
        av.capture(model, PROMPT, generate=8, progress=leave)
    assert av.capture(model, PROMPT, generate=1).n_tokens == 10

"""Hidden tokens and pairs against the models' own eager code with a mask written here."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest
import torch

from attnviz.errors import AttnvizError, ModelError
from attnviz.interventions import HideEdge, HideToken, intervene
from attnviz.models import LoadedModel
from tests.interventions.test_heads import t5
from tests.models.shrink import shrink
from tests.models.tiny import TEXT, build, llama

LEAST = torch.finfo(torch.float32).min


def gpt_oss() -> LoadedModel:
    return build(shrink("gpt_oss"))


def mistral() -> LoadedModel:
    return build(shrink("mistral", sliding_window=4))


def gemma2() -> LoadedModel:
    return build(shrink("gemma2", attn_logit_softcapping=20.0))


MODELS: dict[str, Callable[[], LoadedModel]] = {
    "llama": llama,
    "mistral": mistral,
    "gpt_oss with sinks": gpt_oss,
    "gemma2 with capping": gemma2,
    "bert": lambda: build(shrink("bert"), kind="encoder"),
}


def by_hand(
    model: LoadedModel, hide: Callable[[int, torch.Tensor], None], text: str = TEXT
) -> torch.Tensor:
    """The model's eager run, each layer's additive mask (1, heads, T, T) changed by hide."""
    before = model.model.config._attn_implementation
    model.model.set_attn_implementation("eager")
    home: Any = sys.modules[type(model.model).__module__]
    plain = home.eager_attention_forward
    number = iter(range(100))

    def attention(module: Any, q: Any, k: Any, v: Any, mask: Any, **options: Any) -> Any:
        length = q.shape[2]
        if mask is None:
            mask = torch.zeros(1, 1, length, length)
        mask = mask.expand(-1, q.shape[1], -1, -1).clone()
        hide(next(number), mask)
        return plain(module, q, k, v, mask, **options)

    home.eager_attention_forward = attention
    try:
        with torch.no_grad():
            ids = torch.tensor([model.tokenizer(text)["input_ids"]])
            out = model.model(input_ids=ids, use_cache=False)
    finally:
        home.eager_attention_forward = plain
        model.model.set_attn_implementation(before)
    return (out.logits if hasattr(out, "logits") else out.last_hidden_state)[0]


@pytest.mark.parametrize("word", MODELS)
def test_an_edge_of_one_head_and_a_token_of_all(word: str) -> None:
    model = MODELS[word]()

    def edge(layer: int, mask: torch.Tensor) -> None:
        if layer == 1:
            mask[:, 2, 5, 3] = LEAST

    def token(_: int, mask: torch.Tensor) -> None:
        own = mask[..., 4, 4].clone()
        mask[..., 4] = LEAST
        mask[..., 4, 4] = own

    for edit, hide in ((HideEdge(5, 3, layer=1, head=2), edge), (HideToken(4), token)):
        found = intervene(model, TEXT, [edit])
        torch.testing.assert_close(found.after.rows, by_hand(model, hide), atol=2e-5, rtol=1e-4)
        assert found.moved().max() > 1e-4


@pytest.mark.parametrize("group", ["encoder", "decoder", "cross"])
def test_an_edge_in_each_group_of_an_encoder_decoder(group: str) -> None:
    """Against T5's eager code, whose module of layer 1 in that group gets a mask from here."""
    model = t5()
    found = intervene(
        model, TEXT, [HideEdge(3, 1, layer=1, head=2, group=group)], target="the cat ran off"
    )
    stack = "encoder" if group == "encoder" else "decoder"
    place = "1.EncDecAttention" if group == "cross" else "0.SelfAttention"
    chosen = model.model.get_submodule(f"{stack}.block.1.layer.{place}")
    home: Any = sys.modules[type(model.model).__module__]
    plain = home.eager_attention_forward

    def attention(module: Any, q: Any, k: Any, v: Any, mask: Any, **options: Any) -> Any:
        if module is chosen:
            mask = torch.zeros(1, 1, q.shape[2], k.shape[2]) if mask is None else mask
            mask = mask.expand(-1, q.shape[1], -1, -1).clone()
            mask[:, 2, 3, 1] = LEAST
        return plain(module, q, k, v, mask, **options)

    model.model.set_attn_implementation("eager")
    home.eager_attention_forward = attention
    try:
        with torch.no_grad():
            out = model.model(
                input_ids=torch.tensor([model.tokenizer(TEXT)["input_ids"]]),
                decoder_input_ids=found.before.ids[None],
                use_cache=False,
            )
    finally:
        home.eager_attention_forward = plain
    torch.testing.assert_close(found.after.rows, out.logits[0], atol=2e-5, rtol=1e-4)
    assert found.moved().max() > 1e-5


def test_before_the_hidden_token_nothing_moves() -> None:
    found = intervene(llama(), TEXT, [HideToken(6)])
    assert found.moved()[:7].max() < 1e-5
    assert found.moved()[7:].min() > 1e-5


def test_what_cannot_be_hidden_is_said() -> None:
    model = llama()
    for edit, words in (
        (HideEdge(0, 0), "nothing left to read"),
        (HideEdge(99, 0), "13 queries and 13 keys|12 queries and 12 keys"),
        (HideToken(99), "is not there"),
        (HideEdge(3, 1, head=7), "heads 0 to 3"),
        (HideEdge(5, 3, 99), "Layer 99 of .* layers with one: 0 to 2"),
        (HideEdge(5, 3, -1), "Layer -1 of"),
        (HideEdge(5, 3, group="cross"), "'cross' is not there"),
        (HideEdge(3, 5), "Nothing to hide: token 3 cannot read 5 already"),
    ):
        with pytest.raises(AttnvizError, match=words):
            intervene(model, TEXT, [edit])
    with pytest.raises(ModelError, match="code of its own"):
        intervene(build(shrink("falcon")), TEXT, [HideToken(2)])


def test_one_edit_may_hold_what_another_hides_too() -> None:
    both = intervene(llama(), TEXT, [HideToken(2), HideEdge(5, 2), HideEdge(5, 2)])
    one = intervene(llama(), TEXT, [HideToken(2)])
    torch.testing.assert_close(both.after.rows, one.after.rows)


@pytest.mark.parametrize("family", ["qwen3_next", "bamba", "mamba"])
def test_what_layers_with_a_state_read_cannot_be_hidden_in_silence(family: str) -> None:
    model = build(shrink(family))
    for edit in (HideToken(3), HideEdge(5, 3)):
        with pytest.raises(ModelError, match="keep a state that every token is written into"):
            intervene(model, TEXT, [edit])
    with pytest.raises(AttnvizError, match="has no attention in which pairs can be hidden"):
        intervene(model, TEXT, [HideEdge(5, 3, 0)])


def test_a_source_token_is_hidden_from_the_target_token_at_its_place_too() -> None:
    """Source and target equally long: cross maps are square, but no token reads itself there."""
    model = t5()
    text = TEXT
    whole = [HideToken(3, group="cross")]
    length = len(intervene(model, text, [], target=text).before.ids)
    pairs = [HideEdge(query, 3, group="cross") for query in range(length)]
    one, other = (intervene(model, text, edits, target=text) for edits in (whole, pairs))
    torch.testing.assert_close(one.after.rows, other.after.rows)
    assert one.moved()[3] > 1e-5

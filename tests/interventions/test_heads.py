"""Edits of heads against hooks written here for one architecture at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import transformers
from torch import Tensor, nn

import attnviz as av
from attnviz.errors import AttnvizError
from attnviz.interventions import Knockout, Patch, Scale, intervene, outlets, sweep
from attnviz.models import LoadedModel
from tests.models.shrink import shrink
from tests.models.tiny import TEXT, build, llama, tokenizer

OTHER = "the dog ran off with the cat and it sat on mat the"  # as many tokens


def t5() -> LoadedModel:
    config = shrink("t5", vocab_size=64)
    torch.manual_seed(0)
    model: Any = transformers.T5ForConditionalGeneration(config).eval()
    return av.from_transformers(model, tokenizer())


MODELS: dict[str, tuple[Callable[[], LoadedModel], str, int, int]] = {
    # how to make one, its projection's name, layer, head
    "llama": (llama, "model.layers.1.self_attn.o_proj", 1, 3),
    "falcon": (lambda: build(shrink("falcon")), "transformer.h.1.self_attention.dense", 1, 2),
    "qwen3_next full": (
        lambda: build(shrink("qwen3_next")),
        "model.layers.1.self_attn.o_proj",
        1,
        1,
    ),
    "qwen3_next linear": (
        lambda: build(shrink("qwen3_next")),
        "model.layers.0.linear_attn.out_proj",
        0,
        1,
    ),
    "bert": (
        lambda: build(shrink("bert"), kind="encoder"),
        "encoder.layer.1.attention.output.dense",
        1,
        0,
    ),
    "modernbert": (lambda: build(shrink("modernbert"), kind="encoder"), "layers.1.attn.Wo", 1, 3),
    "gpt2": (lambda: build(shrink("gpt2")), "transformer.h.0.attn.c_proj", 0, 2),
}


def heads_of(model: LoadedModel, layer: int) -> int:
    return next(o.n_heads for o in outlets(model) if o.layer == layer)


def by_hand(
    model: LoadedModel, name: str, change: Callable[[Tensor], Tensor], text: str = TEXT
) -> Tensor:
    """The run with one projection's input changed, by a hook of torch's own."""
    module: nn.Module = model.model.get_submodule(name)
    handle = module.register_forward_pre_hook(lambda _, inputs: (change(inputs[0].clone()),))
    try:
        with torch.no_grad():
            ids = torch.tensor([model.tokenizer(text)["input_ids"]])
            out = model.model(input_ids=ids, use_cache=False)
    finally:
        handle.remove()
    return (out.logits if hasattr(out, "logits") else out.last_hidden_state)[0]


@pytest.mark.parametrize("word", MODELS)
def test_a_knock_out_zeroes_the_heads_slice_before_the_projection(word: str) -> None:
    make, name, layer, head = MODELS[word]
    model = make()
    count = heads_of(model, layer)

    def zero(heads: Tensor) -> Tensor:
        heads.unflatten(-1, (count, -1))[..., head, :] = 0
        return heads

    found = intervene(model, TEXT, [Knockout(layer, head)])
    torch.testing.assert_close(found.after.rows, by_hand(model, name, zero), atol=1e-6, rtol=1e-5)
    assert (found.after.rows - found.before.rows).abs().max() > 1e-3


@pytest.mark.parametrize("word", MODELS)
def test_mean_scale_and_patch_equal_hooks(word: str) -> None:
    make, name, layer, head = MODELS[word]
    model = make()
    count = heads_of(model, layer)

    def mean(heads: Tensor) -> Tensor:
        own = heads.unflatten(-1, (count, -1))[0, :, head]
        own[:] = own.mean(0)
        return heads

    def half(heads: Tensor) -> Tensor:
        heads.unflatten(-1, (count, -1))[..., head, :] *= 0.5
        return heads

    kept: list[Tensor] = []
    module = model.model.get_submodule(name)
    handle = module.register_forward_pre_hook(lambda _, inputs: kept.append(inputs[0].clone()))
    with torch.no_grad():
        model.model(input_ids=torch.tensor([model.tokenizer(OTHER)["input_ids"]]), use_cache=False)
    handle.remove()

    def other(heads: Tensor) -> Tensor:
        heads.unflatten(-1, (count, -1))[..., head, :] = kept[0].unflatten(-1, (count, -1))[
            ..., head, :
        ]
        return heads

    edits = {Knockout(layer, head, "mean"): mean, Scale(layer, head, 0.5): half}
    for edit, change in {**edits, Patch(layer, head, OTHER): other}.items():
        found = intervene(model, TEXT, [edit]).after.rows
        torch.testing.assert_close(found, by_hand(model, name, change), atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("word", MODELS)
def test_nothing_changed_is_nothing_changed(word: str) -> None:
    model = MODELS[word][0]()
    found = intervene(model, TEXT, [])
    assert torch.equal(found.before.rows, found.after.rows)
    with torch.no_grad():
        ids = torch.tensor([model.tokenizer(TEXT)["input_ids"]])
        out = model.model(input_ids=ids, use_cache=False)
    plain = out.logits if hasattr(out, "logits") else out.last_hidden_state
    assert torch.equal(found.after.rows, plain[0])


def test_of_a_model_for_pictures_and_texts_the_text_tower_is_changed() -> None:
    config = shrink("clip")
    clip = av.from_transformers(transformers.CLIPModel(config).eval(), tokenizer())
    alone = av.from_transformers(clip.model.text_model, tokenizer())
    edit = Knockout(1, 2)
    rows = intervene(alone, TEXT, [edit]).after.rows
    assert torch.equal(intervene(clip, TEXT, [edit]).after.rows, rows)
    moved = sweep(clip, TEXT).moved
    assert moved.shape == (2, 4)
    assert moved[1, 2] == pytest.approx(float(intervene(clip, TEXT, [edit]).moved().mean()), 1e-3)


def test_nothing_changed_in_an_encoder_decoder_is_nothing_changed() -> None:
    model = t5()
    found = intervene(model, TEXT, [], target="the cat ran off")
    with torch.no_grad():
        out = model.model(
            input_ids=torch.tensor([model.tokenizer(TEXT)["input_ids"]]),
            decoder_input_ids=found.before.ids[None],
            use_cache=False,
        )
    assert torch.equal(found.before.rows, found.after.rows)
    assert torch.equal(found.after.rows, out.logits[0])


@pytest.mark.parametrize("group", ["encoder", "decoder", "cross"])
def test_each_group_of_an_encoder_decoder(group: str) -> None:
    model = t5()
    name = {
        "encoder": "encoder.block.1.layer.0.SelfAttention.o",
        "decoder": "decoder.block.1.layer.0.SelfAttention.o",
        "cross": "decoder.block.1.layer.1.EncDecAttention.o",
    }[group]
    found = intervene(model, TEXT, [Knockout(1, 2, group=group)], target="the cat ran off")
    count = next(o.n_heads for o in outlets(model) if o.group == group)

    def zero(_: nn.Module, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        heads = inputs[0].clone()
        heads.unflatten(-1, (count, -1))[..., 2, :] = 0
        return (heads,)

    handle = model.model.get_submodule(name).register_forward_pre_hook(zero)
    with torch.no_grad():
        out = model.model(
            input_ids=torch.tensor([model.tokenizer(TEXT)["input_ids"]]),
            decoder_input_ids=found.before.ids[None],
            use_cache=False,
        )
    handle.remove()
    torch.testing.assert_close(found.after.rows, out.logits[0], atol=1e-6, rtol=1e-5)
    assert found.divergence() > 0
    assert found.next_tokens(3)["change"].abs().is_monotonic_decreasing


def test_a_patch_of_an_encoder_decoder_reads_the_other_source_with_the_same_target() -> None:
    model = t5()
    edit = Patch(1, 2, OTHER, group="cross")
    found = intervene(model, TEXT, [edit], target="the cat ran off")
    module = model.model.get_submodule("decoder.block.1.layer.1.EncDecAttention.o")
    kept: list[Tensor] = []

    def run(text: str) -> Tensor:
        with torch.no_grad():
            ids = torch.tensor([model.tokenizer(text)["input_ids"]])
            target = found.before.ids[None]
            return model.model(input_ids=ids, decoder_input_ids=target, use_cache=False).logits[0]

    handle = module.register_forward_pre_hook(lambda _, inputs: kept.append(inputs[0].clone()))
    run(OTHER)
    handle.remove()

    def other(_: nn.Module, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        heads = inputs[0].clone()
        width = heads.shape[-1] // 4
        heads[..., 2 * width : 3 * width] = kept[0][..., 2 * width : 3 * width]
        return (heads,)

    handle = module.register_forward_pre_hook(other)
    torch.testing.assert_close(found.after.rows, run(TEXT), atol=1e-6, rtol=1e-5)
    handle.remove()
    with pytest.raises(AttnvizError, match="say in which"):
        intervene(model, TEXT, [Knockout(1, 2)], target="the cat ran off")


def test_what_is_not_there_is_said() -> None:
    model = llama()
    for edit, words in (
        (Knockout(9, 0), "no attention layer 9"),
        (Knockout(0, 99), "heads 0 to 3"),
        (Knockout(0, 0, group="cross"), "no attention layer 0 in 'cross'"),
    ):
        with pytest.raises(AttnvizError, match=words):
            intervene(model, TEXT, [edit])
    with pytest.raises(AttnvizError, match="equally long"):
        intervene(model, TEXT, [Patch(0, 0, "the cat")])
    with pytest.raises(AttnvizError, match="'zero' or 'mean'"):
        Knockout(0, 0, "noise")
    # And nothing is left behind.
    assert not any(m._forward_pre_hooks for m in model.model.modules())

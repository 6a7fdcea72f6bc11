"""A sweep against one intervention a head; parts of a logit against the whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import attnviz as av
from attnviz.errors import AttnvizError, Cancelled, ModelError
from attnviz.interventions import Knockout, head_logits, intervene, outlets, sweep
from attnviz.interventions.projections import text_outlets
from attnviz.models import LoadedModel
from tests.interventions.test_heads import t5
from tests.models.shrink import build as shrunk
from tests.models.shrink import shrink
from tests.models.tiny import TEXT, build, llama, tokenizer

MODELS: dict[str, Callable[[], LoadedModel]] = {
    "llama": llama,
    "falcon": lambda: build(shrink("falcon")),
    "gpt2": lambda: build(shrink("gpt2")),
    "qwen3_next": lambda: build(shrink("qwen3_next")),
    "gemma3n_text": lambda: build(shrink("gemma3n_text")),  # streams stand before the examples
    "gemma3": lambda: build(shrink("gemma3")),  # with a tower for pictures, which reads no text
}


@pytest.mark.parametrize("word", MODELS)
def test_each_heads_number_is_that_of_its_own_knock_out(word: str) -> None:
    model = MODELS[word]()
    found = sweep(model, TEXT, token_id=7)
    assert "forward" not in {name for m in model.model.modules() for name in m.__dict__}
    for row, place in enumerate(text_outlets(model)):
        for head in range(place.n_heads):
            alone = intervene(model, TEXT, [Knockout(place.layer, head)])
            assert found.losses[row, head] == pytest.approx(alone.loss()[1], abs=2e-5)
            one = float(alone.after.probabilities()[7])
            assert found.probabilities[row, head] == pytest.approx(one, rel=1e-4)
    table = found.table()
    assert len(table) == sum(place.n_heads for place in text_outlets(model))
    assert table["log_ratio"].is_monotonic_increasing
    assert found.loss == pytest.approx(alone.loss()[0])
    assert {group for group, _ in found.layers} == {"self"}
    assert word != "gemma3" or len(outlets(model)) > len(found.layers)


def test_the_likeliest_token_is_followed_and_an_encoder_has_none() -> None:
    model = llama()
    found = sweep(model, TEXT)
    assert found.token_id == int(intervene(model, TEXT, []).before.rows[-1].argmax())
    with pytest.raises(AttnvizError, match="predicts no next token"):
        sweep(build(shrink("bert"), kind="encoder"), TEXT, token_id=1)
    with pytest.raises(AttnvizError, match="tokens 0 to 63"):
        sweep(model, TEXT, token_id=64)


def test_of_an_encoder_the_output_states_are_followed() -> None:
    model = build(shrink("bert"), kind="encoder")
    found = sweep(model, TEXT)
    assert not found.predicts
    assert "probability" not in found.table()
    for row, place in enumerate(outlets(model)):
        for head in range(place.n_heads):
            alone = intervene(model, TEXT, [Knockout(place.layer, head)])
            assert found.moved[row, head] == pytest.approx(float(alone.moved().mean()), rel=1e-3)
    assert found.table()["moved"].is_monotonic_decreasing


def fsmt() -> LoadedModel:
    torch.manual_seed(0)
    return av.from_transformers(shrunk("SEQ_TO_SEQ_CAUSAL_LM", "fsmt"), tokenizer())


@pytest.mark.parametrize("make", [t5, fsmt], ids=["examples first", "tokens first"])
def test_of_an_encoder_decoder_the_next_token_of_its_target_is_followed(
    make: Callable[[], LoadedModel],
) -> None:
    model = make()
    found = sweep(model, TEXT, token_id=7, target="the cat ran off")
    assert {group for group, _ in found.layers} == {"encoder", "decoder", "cross"}
    for row, place in enumerate(outlets(model)):
        edit = Knockout(place.layer, 1, group=place.group)
        alone = intervene(model, TEXT, [edit], target="the cat ran off")
        one = float(alone.after.probabilities()[7])
        assert found.probabilities[row, 1] == pytest.approx(one, rel=1e-4)


def test_a_model_of_which_no_two_passes_are_alike_is_refused() -> None:
    with pytest.raises(ModelError, match="hashes drawn anew in every pass"):
        sweep(build(shrink("reformer", is_decoder=True)), TEXT)


def test_a_sweep_that_is_left_restores_the_model() -> None:
    model = llama()

    def leave(fraction: float, _: str) -> None:
        if fraction > 0.5:
            raise Cancelled

    with pytest.raises(Cancelled):
        sweep(model, TEXT, progress=leave)
    modules = list(model.model.modules())
    assert not any("forward" in m.__dict__ or m._forward_pre_hooks for m in modules)
    assert not any(m._forward_hooks for m in modules)


@pytest.mark.parametrize("word", ["llama", "gpt2"])
def test_heads_and_the_rest_of_the_stream_make_the_logit(word: str) -> None:
    """The embedding's, the MLPs' and the biases' parts, each read off by a hook, add up."""
    model = MODELS[word]()
    found = head_logits(model, TEXT)
    body: Any = model.model.model if word == "llama" else model.model.transformer
    layers = body.layers if word == "llama" else body.h
    written: list[torch.Tensor] = []
    handles = [
        layers[0].register_forward_pre_hook(lambda _, inputs: written.append(inputs[0][0, -1]))
    ]
    for layer in layers:
        handles.append(
            layer.mlp.register_forward_hook(lambda _, __, out: written.append(out[0, -1]))
        )
        if word == "gpt2":
            written.append(layer.attn.c_proj.bias.detach())
    norm = body.norm if word == "llama" else body.ln_f
    streams: list[torch.Tensor] = []
    handles.append(
        norm.register_forward_pre_hook(lambda _, inputs: streams.append(inputs[0][0, -1]))
    )
    with torch.no_grad():
        ids = torch.tensor([model.tokenizer(TEXT)["input_ids"]])
        logit = model.model(input_ids=ids, use_cache=False).logits[0, -1, found.token_id]
    for handle in handles:
        handle.remove()
    rest = torch.stack(written).double().sum(0)
    stream, weight = streams[0].double(), model.model.get_output_embeddings().weight
    bias = torch.zeros(())
    if word == "gpt2":
        rest, stream = rest - rest.mean(), stream - stream.mean()
        bias = norm.bias.detach() @ weight[found.token_id].detach()
    scale = (stream.pow(2).mean() + getattr(norm, "variance_epsilon", 1e-5)).sqrt()
    own = (rest / scale * norm.weight) @ weight[found.token_id].double() + bias
    assert found.rest == pytest.approx(float(own), abs=1e-4)
    assert found.logit == pytest.approx(float(logit), abs=1e-5)
    assert np.isfinite(found.parts).all()

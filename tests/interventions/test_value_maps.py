"""Value-weighted maps against vectors from hooks of torch's own, one architecture at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from torch import Tensor, nn

import attnviz as av
from attnviz.errors import AttnvizError, ModelError
from attnviz.interventions.value_maps import value_norms, value_weighted
from attnviz.models import LoadedModel
from tests.models.shrink import shrink
from tests.models.tiny import TEXT, build, llama, tokenizer


def two_stacks(name: str) -> LoadedModel:
    torch.manual_seed(0)
    auto: Any = transformers.AutoModelForSeq2SeqLM
    model = auto.from_config(shrink(name, vocab_size=64)).eval()
    with torch.no_grad():
        for parameter in model.parameters():  # biases too, which start at zero
            parameter.normal_(0.0, 0.25)
    return av.from_transformers(model, tokenizer())


def with_biases(model: LoadedModel) -> LoadedModel:
    with torch.no_grad():
        for name, parameter in model.model.named_parameters():
            if name.endswith("bias"):
                parameter.normal_(0.0, 0.25)
    return model


def as_it_is(found: Tensor, _: LoadedModel) -> Tensor:
    """(T, kv_heads * width): what a projection of values alone gives."""
    return found


def last_third(found: Tensor, _: LoadedModel) -> Tensor:
    return found.chunk(3, -1)[2]


def last_head(found: Tensor, model: LoadedModel) -> Tensor:
    """Falcon's one key and one value stand behind its queries."""
    assert model.config.multi_query
    return found[..., -model.config.head_dim :]


Case = tuple[Callable[[], LoadedModel], str, str, Callable[[Tensor, LoadedModel], Tensor], str]
ATTENTION = "model.layers.1.self_attn"
CASES: dict[str, Case] = {
    # how to make one, where its values come from, W^O, which part of that is the values, group
    "llama": (llama, f"{ATTENTION}.v_proj", f"{ATTENTION}.o_proj", as_it_is, "self"),
    "qwen2 with biases": (
        lambda: with_biases(build(shrink("qwen2"))),
        f"{ATTENTION}.v_proj",
        f"{ATTENTION}.o_proj",
        as_it_is,
        "self",
    ),
    "gemma2 with capping": (
        lambda: build(shrink("gemma2", attn_logit_softcapping=20.0)),
        f"{ATTENTION}.v_proj",
        f"{ATTENTION}.o_proj",
        as_it_is,
        "self",
    ),
    "gpt_oss with sinks": (
        lambda: build(shrink("gpt_oss")),
        f"{ATTENTION}.v_proj",
        f"{ATTENTION}.o_proj",
        as_it_is,
        "self",
    ),
    "qwen3_next gated": (
        lambda: build(shrink("qwen3_next")),
        f"{ATTENTION}.v_proj",
        f"{ATTENTION}.o_proj",
        as_it_is,
        "self",
    ),
    "bert": (
        lambda: with_biases(build(shrink("bert"), kind="encoder")),
        "encoder.layer.1.attention.self.value",
        "encoder.layer.1.attention.output.dense",
        as_it_is,
        "self",
    ),
    "gpt2": (
        lambda: with_biases(build(shrink("gpt2"))),
        "transformer.h.1.attn.c_attn",
        "transformer.h.1.attn.c_proj",
        last_third,
        "self",
    ),
    "falcon": (
        lambda: build(shrink("falcon")),
        "transformer.h.1.self_attention.query_key_value",
        "transformer.h.1.self_attention.dense",
        last_head,
        "self",
    ),
    "bart cross": (
        lambda: two_stacks("bart"),
        "model.decoder.layers.1.encoder_attn.v_proj",
        "model.decoder.layers.1.encoder_attn.out_proj",
        as_it_is,
        "cross",
    ),
    "t5 cross": (
        lambda: two_stacks("t5"),
        "decoder.block.1.layer.1.EncDecAttention.v",
        "decoder.block.1.layer.1.EncDecAttention.o",
        as_it_is,
        "cross",
    ),
}


def run(model: LoadedModel, capture: Any, names: list[str]) -> dict[str, tuple[Tensor, Tensor]]:
    """(input, output) of these modules in a plain run of a capture's tokens."""
    kept: dict[str, tuple[Tensor, Tensor]] = {}

    def keep(name: str) -> Callable[..., None]:
        def hook(_: nn.Module, inputs: Any, output: Tensor) -> None:
            kept[name] = (inputs[0][0].clone(), output[0].clone())

        return hook

    handles = [model.model.get_submodule(n).register_forward_hook(keep(n)) for n in names]
    tensors = {"input_ids": torch.tensor([capture.token_ids])}
    if len(capture.groups) > 1:
        tensors["decoder_input_ids"] = torch.tensor([capture.of("decoder").token_ids])
    with torch.no_grad():
        model.model(**tensors, use_cache=False)
    for handle in handles:
        handle.remove()
    return kept


def vectors(model: LoadedModel, word: str, capture: Any, heads: int) -> tuple[Tensor, Tensor]:
    """(f of every head, query and key: (heads, 1 or queries, keys, d_model), what W^O gave)."""
    _, source, projection, part, _ = CASES[word]
    names = [source, projection]
    gated = f"{ATTENTION}.q_proj" if "gated" in word else None
    kept = run(model, capture, names + ([gated] if gated else []))
    values = part(kept[source][1], model)  # (keys, kv_heads * width)
    module = model.model.get_submodule(projection)
    W = module.weight.detach()
    W = W.T if isinstance(module, nn.Linear) else W  # (heads * width, d_model)
    W = W.unflatten(0, (heads, -1))
    values = values.unflatten(-1, (-1, W.shape[1])).transpose(0, 1)  # (kv_heads, keys, width)
    values = values.repeat_interleave(heads // len(values), dim=0)[:, None]
    if gated:
        both = kept[gated][1].unflatten(-1, (heads, -1))  # a query and a gate a head
        values = values * both[..., W.shape[1] :].sigmoid().transpose(0, 1)[:, :, None]
    return values @ W[:, None], kept[projection][1]


@pytest.mark.parametrize("word", CASES)
def test_norms_are_those_of_the_vectors_and_the_vectors_add_up(word: str) -> None:
    make, _, projection, _, group = CASES[word]
    model = make()
    capture = (
        av.capture(model, source=TEXT, target="the cat ran off")
        if group == "cross"
        else av.capture(model, TEXT)
    )
    part = capture.of(group)
    heads = next(layer.n_heads for layer in part.captured if layer.index == 1)
    maps = torch.stack([torch.from_numpy(part.weights(1, head)) for head in range(heads)])
    f, output = vectors(model, word, capture, heads)
    parts = maps[..., None] * f  # (heads, queries, keys, d_model)

    weighted = value_weighted(model, capture, group)
    found = np.stack([weighted.weights(1, head) for head in range(heads)])
    wanted = parts.norm(dim=-1).numpy()
    np.testing.assert_allclose(found, wanted, atol=1e-6 * max(1.0, wanted.max()))

    bias = getattr(model.model.get_submodule(projection), "bias", None)
    total = parts.sum((0, 2)) + (0.0 if bias is None else bias.detach())
    torch.testing.assert_close(total, output, atol=1e-5, rtol=1e-4)
    assert weighted.gated == ((1,) if "gated" in word else ())


@pytest.mark.models
@pytest.mark.parametrize("name", ["smollm2", "minilm"])
def test_the_bundled_models(name: str, request: pytest.FixtureRequest) -> None:
    model: LoadedModel = request.getfixturevalue(name)
    capture = av.capture(model, "The keys to the cabinet are on the table.")
    layer, head = 3, 5
    if name == "smollm2":
        source = "model.layers.3.self_attn.v_proj"
        projection = "model.layers.3.self_attn.o_proj"
        width, read = 64, 1  # nine heads on three
    else:
        source = "encoder.layer.3.attention.self.value"
        projection = "encoder.layer.3.attention.output.dense"
        width, read = 32, 5
    kept = run(model, capture, [source, projection])
    W = model.model.get_submodule(projection).weight.detach().T[head * width : (head + 1) * width]
    f = kept[source][1][:, read * width : (read + 1) * width] @ W
    wanted = capture.weights(layer, head) * f.norm(dim=-1).numpy()
    found = value_weighted(model, capture)
    np.testing.assert_allclose(found.weights(layer, head), wanted, atol=1e-6 * wanted.max())
    np.testing.assert_allclose(found.tops(layer, head), wanted.max(1), rtol=1e-5)


@pytest.mark.parametrize("word", ["llama", "falcon"])
def test_it_reads_like_a_capture(word: str) -> None:
    """Tiles, overviews and metrics; the latter of shares, each row divided by its sum."""
    model = CASES[word][0]()
    text = " ".join([TEXT] * 3)
    capture = av.capture(model, text, overview_size=8)
    weighted = value_weighted(model, capture)
    whole = weighted.weights(1, 2)
    tile = weighted.weights(1, 2, rows=slice(9, 20), cols=slice(3, 11))
    np.testing.assert_allclose(tile, whole[9:20, 3:11], rtol=1e-5, atol=1e-6)
    values, _ = weighted.largest(1, 2, 4, rows=slice(4, 36), cols=slice(0, 20))
    blocks = whole[4:36, 0:20].reshape(8, 4, 5, 4).max((1, 3))
    np.testing.assert_allclose(values, blocks, rtol=1e-5)
    np.testing.assert_allclose(weighted.tops(1, 2), whole.max(1), rtol=1e-5)
    shares = whole / whole.sum(1, keepdims=True)
    row = weighted.metrics().set_index(["layer", "head"]).loc[(1, 2)]
    assert row["first"] == pytest.approx(shares[:, 0].mean(), abs=1e-6)
    assert row["entropy"] == pytest.approx(
        -np.where(shares > 0, shares * np.log(np.where(shares > 0, shares, 1)), 0).sum(1).mean(),
        abs=1e-5,
    )
    cells = np.arange(len(shares)) * 8 // len(shares)
    pooled = [[shares[cells == a][:, cells == b].mean() for b in range(8)] for a in range(8)]
    place = [layer.index for layer in weighted.captured].index(1)
    np.testing.assert_allclose(weighted.overview()[place, 2], pooled, atol=1e-5)
    assert weighted.nbytes < 2 * capture.nbytes


def test_what_cannot_be_weighed_is_said() -> None:
    albert = build(shrink("albert"), kind="encoder")
    shared = av.capture(albert, TEXT)
    with pytest.raises(ModelError, match="layer 1 of AlbertModel cannot be reached"):
        value_norms(albert, shared)
    gated = build(shrink("qwen3_next", max_position_embeddings=512))
    long = av.capture(gated, " ".join([TEXT] * 21))
    with pytest.raises(AttnvizError, match="at most 256 tokens, not 273"):
        value_norms(gated, long)
    one, other = llama(), llama(hidden_size=48, num_attention_heads=4)
    one = av.capture(llama(), TEXT)
    other = llama(hidden_size=48)
    with pytest.raises(ModelError, match="not what this layer"):
        value_norms(other, one)
    assert not any(m._forward_pre_hooks for m in gated.model.modules())

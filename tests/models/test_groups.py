"""Encoder-decoders and decoders that look across: named groups with axes of their own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
import transformers as hf

import attnviz as av
from attnviz.errors import AttnvizError
from attnviz.models import LoadedModel
from tests.models.shrink import build
from tests.models.tiny import COMMON, TEXT, tokenizer

SOURCE, TARGET = "the cat sat on the mat", "the dog ran"


def pair(name: str) -> LoadedModel:
    torch.manual_seed(0)
    model = build("SEQ_TO_SEQ_CAUSAL_LM", name)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim > 1:
                parameter.normal_(0.0, 0.25)
    return av.from_transformers(model, tokenizer())


@pytest.fixture(scope="module")
def t5() -> LoadedModel:
    return pair("t5")


def test_three_groups_with_their_own_axes(t5: LoadedModel) -> None:
    capture = av.capture(t5, source=SOURCE, target=TARGET)
    assert capture.groups == ("encoder", "decoder", "cross")
    cross = capture.of("cross")
    assert cross.key_tokens == ("the", "·cat", "·sat", "·on", "·the", "·mat")
    assert cross.tokens[1:] == ("the", "dog")  # its start token, then all but the last
    assert cross.token_ids[0] == 0
    assert capture.weights(1, 2, group="cross").shape == (3, 6)
    assert capture.weights(1, 2, group="decoder").shape == (3, 3)
    assert [layer.kind for layer in cross.layers] == ["cross", "cross"]
    assert cross.overview().shape == (2, 4, 3, 6)
    assert len(cross.metrics()) == 8
    # No query is one of the keys: nothing is "the token itself", nor so many tokens away.
    own = [*("distance", "previous", "self"), *("duplicate", "induction")]
    assert cross.metrics()[own].isna().all(axis=None)
    assert cross.by_words().metrics()[own[:3]].isna().all(axis=None)
    assert cross.metrics()[["entropy", "first", "span"]].notna().all(axis=None)
    assert capture.of("decoder").metrics()[own[:1]].notna().all(axis=None)
    with pytest.raises(AttnvizError, match="encoder, decoder, cross"):
        capture.weights(0, 0, group="sideways")


def test_the_groups_are_the_model_s_own_maps(t5: LoadedModel) -> None:
    capture = av.capture(t5, source=SOURCE, target=TARGET)
    source = torch.tensor([capture.token_ids])
    target = torch.tensor([capture.of("decoder").token_ids])
    t5.model.set_attn_implementation("eager")
    with torch.no_grad():
        own = t5.model(input_ids=source, decoder_input_ids=target, output_attentions=True)
    t5.model.set_attn_implementation("sdpa")
    for group, maps in (
        ("encoder", own.encoder_attentions),
        ("decoder", own.decoder_attentions),
        ("cross", own.cross_attentions),
    ):
        for layer in range(2):
            got = np.stack([capture.weights(layer, head, group=group) for head in range(4)])
            np.testing.assert_allclose(got, maps[layer][0].numpy(), atol=1e-5)


def test_places_in_two_texts_are_not_compared(t5: LoadedModel) -> None:
    """A decoder's token 3 is not the encoder's token 3: there is no distance, and no self."""
    capture = av.capture(t5, source=SOURCE, target=TARGET)
    for maps in (capture.of("cross"), capture.of("cross").by_words()):
        table = maps.metrics()
        assert table[["distance", "previous", "self"]].isna().all(axis=None)
        assert table[["entropy", "first", "span"]].notna().all(axis=None)
    assert capture.of("decoder").metrics()["self"].notna().all()


def test_a_target_that_is_not_given_is_written_by_the_model(t5: LoadedModel) -> None:
    capture = av.capture(t5, SOURCE, max_new_tokens=5)
    with torch.no_grad():
        ids = torch.tensor([capture.token_ids])
        written = t5.model.generate(
            ids, max_new_tokens=5, do_sample=False, num_beams=1, decoder_start_token_id=0
        )
    assert list(capture.of("decoder").token_ids) == written[0, :-1].tolist()


def test_a_model_with_one_stack_takes_no_target() -> None:
    model = av.from_transformers(hf.LlamaForCausalLM(hf.LlamaConfig(**COMMON)), tokenizer())
    with pytest.raises(AttnvizError, match="writes into the same"):
        av.capture(model, source=SOURCE, target=TARGET)
    with pytest.raises(AttnvizError, match="reads one thing"):
        av.capture(model, SOURCE, messages=[])
    with pytest.raises(AttnvizError, match="reads one thing"):
        av.capture(model)


def test_a_decoder_that_looks_across_shows_both() -> None:
    """The library hands back self-attention alone where nobody asks for the other."""
    torch.manual_seed(0)
    config = hf.BertConfig(**COMMON, is_decoder=True, add_cross_attention=True)
    model = av.from_transformers(hf.BertLMHeadModel(config).eval(), tokenizer())
    states = torch.randn(1, 5, 32)
    inputs = {"input_ids": torch.tensor([[1, 2, 3, 4]]), "encoder_hidden_states": states}
    capture = av.capture(model, inputs=inputs)
    assert capture.groups == ("self", "cross")
    assert capture.weights(2, 3, group="cross").shape == (4, 5)
    np.testing.assert_allclose(capture.weights(2, 3, group="cross").sum(-1), 1, atol=1e-5)
    model.model.set_attn_implementation("eager")
    with torch.no_grad():
        own = model.model(**inputs, output_attentions=True)
    np.testing.assert_allclose(
        capture.weights(1, 0, group="cross"), own.cross_attentions[1][0, 0].numpy(), atol=1e-5
    )


def test_sounds_are_frames_on_the_encoder_s_side() -> None:
    torch.manual_seed(0)
    sizes: dict[str, Any] = {"d_model": 32, "encoder_layers": 2, "decoder_layers": 2}
    sizes |= {"encoder_attention_heads": 4, "decoder_attention_heads": 4, "vocab_size": 64}
    sizes |= {"encoder_ffn_dim": 48, "decoder_ffn_dim": 48, "max_source_positions": 20}
    ends = {"pad_token_id": 0, "bos_token_id": 0, "eos_token_id": 0, "decoder_start_token_id": 0}
    config = hf.WhisperConfig(**sizes, **ends, num_mel_bins=8)
    model = av.from_transformers(hf.WhisperForConditionalGeneration(config).eval(), tokenizer())
    inputs = {
        "input_features": torch.randn(1, 8, 40),
        "decoder_input_ids": torch.tensor([[1, 2, 3]]),
    }
    capture = av.capture(model, inputs=inputs)
    assert [(capture.of(g).n_tokens, capture.of(g).n_keys) for g in capture.groups] == [
        (20, 20),
        (3, 3),
        (3, 20),
    ]
    assert capture.of("cross").key_tokens[7] == "position 7"


@pytest.mark.parametrize("side", ["left", "right"])
def test_pads_are_trimmed_and_one_example_is_shown(side: str) -> None:
    torch.manual_seed(0)
    model = av.from_transformers(hf.LlamaForCausalLM(hf.LlamaConfig(**COMMON)).eval(), tokenizer())
    model.tokenizer.pad_token, model.tokenizer.padding_side = "[UNK]", side
    batch = model.tokenizer([TEXT, "the cat sat"], padding=True, return_tensors="pt")
    alone = av.capture(model, "the cat sat")
    among = av.capture(model, inputs=batch, example=1)
    assert among.token_ids == alone.token_ids
    np.testing.assert_allclose(among.weights(1, 1), alone.weights(1, 1), atol=1e-6)
    np.testing.assert_array_equal(
        av.capture(model, [TEXT, "the cat sat"], example=1).weights(1, 1), alone.weights(1, 1)
    )
    with pytest.raises(AttnvizError, match="one at a time"):
        av.capture(model, inputs=batch, example=2)
    with pytest.raises(AttnvizError, match="one at a time"):
        av.capture(model, ["the", "cat"], example=-1)


def test_a_loop_over_layers_has_its_passes() -> None:
    """Dory runs its middle layers twice: the second time is a group with the same true layers."""
    torch.manual_seed(0)
    model = av.from_transformers(build("CAUSAL_LM", "dory"), tokenizer())
    capture = av.capture(model, TEXT)
    assert capture.groups == ("self", "pass 2")
    again = [layer.index for layer in capture.of("pass 2").captured]
    assert set(again) < {layer.index for layer in capture.captured}


def test_queries_that_choose_their_keys() -> None:
    """DeepSeek's indexer lets each query see its best keys: no more have weight."""
    torch.manual_seed(0)
    model = av.from_transformers(build("CAUSAL_LM", "deepseek_v32"), tokenizer())
    capture = av.capture(model, TEXT)
    assert capture.captured[0].kind == "sparse"
    assert (capture.weights(0, 0) > 0).sum(-1).max() == model.config.index_topk < 13


@pytest.mark.parametrize("name", ["t5gemma", "t5gemma2"])
def test_a_long_source_is_wholly_in_reach_of_sliding_decoders(name: str) -> None:
    """A window holds for a decoder's own text only; T5Gemma 2 reads both in one softmax."""
    model = pair(name)
    inputs = {
        "input_ids": torch.arange(3, 24)[None],  # 21 tokens, the window being 4
        "decoder_input_ids": torch.tensor([[1, 5, 7, 9, 11, 13]]),
    }
    capture = av.capture(model, inputs=inputs)
    model.model.set_attn_implementation("eager")
    with torch.no_grad():
        own = model.model(**inputs, output_attentions=True)
    for layer in range(2):
        across = own.cross_attentions[layer][0, 1].numpy()
        assert across.shape == (6, 21)
        if name == "t5gemma":
            got = capture.weights(layer, 1, group="cross")
        else:
            got = capture.weights(layer, 1, group="decoder")
            assert capture.of("decoder").n_keys == 6 + 21
            own_text = own.decoder_attentions[layer][0, 1].numpy()
            np.testing.assert_allclose(got[:, :6], own_text, atol=1e-5)
            got = got[:, 6:]
        np.testing.assert_allclose(got, across, atol=1e-5)
        assert (got > 0).all()

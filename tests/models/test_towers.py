"""Models that read texts with pictures in them: what sees is a stack of its own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
import transformers as hf

import attnviz as av
from attnviz.models import LoadedModel
from attnviz.models.interface import running
from attnviz.models.stacks import group_of
from tests.models.shrink import shrink
from tests.models.tiny import COMMON, tokenizer

PIXELS = torch.randn(1, 3, 32, 32, generator=torch.Generator().manual_seed(0))


def llava() -> LoadedModel:
    """Three layers that read, four that see, of another number of heads."""
    torch.manual_seed(0)
    seeing = shrink("clip_vision_model", num_hidden_layers=4, num_attention_heads=2)
    fields: dict[str, Any] = {**COMMON, "num_key_value_heads": 2}
    config = hf.LlavaConfig(
        vision_config=seeing, text_config=hf.LlamaConfig(**fields), image_token_index=9
    )
    return av.from_transformers(hf.LlavaForConditionalGeneration(config).eval(), tokenizer())


def own(model: LoadedModel, inputs: dict[str, Any]) -> tuple[Any, Any]:
    """(the library's maps of the text, those of the picture)."""
    with torch.no_grad(), running(model.model, "eager"):
        text = model.model(**inputs, output_attentions=True).attentions
        tower = next(m for n, m in model.model.named_modules() if n.endswith("vision_tower"))
        seen = tower(PIXELS, output_attentions=True).attentions
    return text, seen


def test_the_text_and_the_picture_have_their_own_layers() -> None:
    model = llava()
    n_patches = (32 // model.model.config.vision_config.patch_size) ** 2
    inputs = {"input_ids": torch.tensor([[1, *[9] * n_patches, 2, 3, 4]]), "pixel_values": PIXELS}
    capture = av.capture(model, inputs=inputs)
    assert capture.groups == ("self", "vision")
    assert capture.n_tokens == n_patches + 4
    text, seen = own(model, inputs)
    for group, maps in (("self", text), ("vision", seen)):
        part = capture.of(group)
        numbers = [layer.index for layer in part.captured]
        assert [layer.index for layer in part.layers] == numbers
        assert set(numbers) <= set(range(len(maps)))
        for layer in numbers:
            for head in range(maps[layer].shape[1]):
                found = part.weights(layer, head)
                np.testing.assert_allclose(found, maps[layer][0, head].numpy(), atol=1e-5)
    assert [layer.index for layer in capture.layers] == [0, 1, 2]
    assert capture.of("vision").tokens[0] == "position 0"


def test_code_of_its_own_is_shown_with_the_text() -> None:
    """GIT's reading layers ask no registry; what only its tower gives is not the model."""
    torch.manual_seed(0)
    model = av.from_transformers(hf.GitForCausalLM(shrink("git")).eval(), tokenizer())
    inputs = {"input_ids": torch.tensor([[1, 2, 3, 4]]), "pixel_values": PIXELS}
    capture = av.capture(model, inputs=inputs)
    assert capture.groups[0] == "self"
    assert "vision" in capture.groups
    with torch.no_grad(), running(model.model, "eager"):
        text = model.model(**inputs, output_attentions=True).attentions
    assert [layer.index for layer in capture.captured] == list(range(len(text)))
    for layer, maps in enumerate(text):
        np.testing.assert_allclose(capture.weights(layer, 1), maps[0, 1].numpy(), atol=1e-5)


@pytest.mark.parametrize(
    ("name", "two_stacks", "group"),
    [
        ("model.vision_tower.vision_model.encoder.layers.1.self_attn", False, "vision"),
        ("vision_tower.encoder.layers.1.self_attn", True, "vision"),
        ("encoder.vision_model.layers.1.self_attn", True, "encoder"),
        ("model.visual.blocks.3.attn", False, "vision"),
        ("git.image_encoder.vision_model.encoder.layers.0.self_attn", False, "vision"),
        ("audio_tower.layers.0.self_attn", False, "audio"),
        ("model.language_model.layers.0.self_attn", False, "self"),
        ("visual_bert.encoder.layer.0.attention.self", False, "self"),
    ],
)
def test_towers_by_name(name: str, two_stacks: bool, group: str) -> None:
    assert group_of(name, two_stacks) == group

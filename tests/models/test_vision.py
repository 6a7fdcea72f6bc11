"""Pictures: patches with their grid, the model's own tokens before them, detectors' queries."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import transformers as hf
from PIL import Image

import attnviz as av
from attnviz.errors import AttnvizError, ModelError
from attnviz.models import LoadedModel
from tests.models.shrink import build, shrink
from tests.models.tiny import TEXT, llama, tokenizer

PICTURE = Image.fromarray(np.random.default_rng(0).integers(0, 255, (40, 50, 3), dtype=np.uint8))


def eyes(name: str, task: str = "IMAGE_CLASSIFICATION") -> LoadedModel:
    torch.manual_seed(0)
    return av.from_transformers(build(task, name))


@pytest.mark.parametrize(
    ("name", "before"),
    [
        ("vit", ("[CLS]",)),
        ("deit", ("[CLS]", "[DIST]")),
        ("dinov2_with_registers", ("[CLS]", "[REG0]", "[REG1]", "[REG2]", "[REG3]")),
        ("siglip", ()),
    ],
)
def test_patches_stand_in_their_grid(name: str, before: tuple[str, ...]) -> None:
    model = eyes(name)
    capture = av.capture(model, image=PICTURE)
    assert model.kind == "vision"
    assert capture.grid == (4, 4)
    assert capture.tokens == (*before, *(f"r{r}c{c}" for r in range(4) for c in range(4)))
    assert capture.special == (True,) * len(before) + (False,) * 16
    assert capture.image is not None
    assert capture.image.shape == (32, 32, 3)
    assert capture.weights(1, 3).shape == (len(before) + 16,) * 2
    assert capture.next_tokens() is None


def test_a_processor_prepares_the_picture() -> None:
    """The same pixels by transformers' processor and by the config with the same numbers."""
    model = eyes("vit")
    processor = hf.ViTImageProcessorPil(size={"height": 32, "width": 32}, do_normalize=True)
    seen = av.from_transformers(model.model, processor=processor)
    by_processor = av.capture(seen, image=PICTURE)
    pixels = processor(images=PICTURE, return_tensors="pt")["pixel_values"]
    model.model.set_attn_implementation("eager")
    with torch.no_grad():
        own = model.model(pixel_values=pixels, output_attentions=True).attentions
    np.testing.assert_allclose(by_processor.weights(1, 0), own[1][0, 0].numpy(), atol=1e-5)


def test_a_detector_s_queries_look_at_the_picture() -> None:
    capture = av.capture(eyes("detr", "OBJECT_DETECTION"), image=PICTURE)
    assert capture.groups == ("encoder", "decoder", "cross")
    assert capture.grid is not None
    cross = capture.of("cross")
    assert cross.tokens[:2] == ("query 0", "query 1")
    assert cross.keys is not None
    assert cross.keys.grid == capture.grid
    assert capture.of("decoder").key_tokens == cross.tokens


def test_stages_of_a_pyramid_have_grids_of_their_own() -> None:
    capture = av.capture(eyes("swin"), image=PICTURE)
    assert capture.groups == ("stage 1", "stage 2")
    assert [capture.of(group).grid for group in capture.groups] == [(16, 16), (8, 8)]
    assert [layer.index for layer in capture.of("stage 2").layers] == [2, 3]


def test_one_model_for_pictures_and_texts_reads_either() -> None:
    torch.manual_seed(0)
    model = av.from_transformers(hf.CLIPModel._from_config(shrink("clip")).eval(), tokenizer())
    assert av.capture(model, image=PICTURE).grid == (4, 4)
    assert av.capture(model, TEXT).n_tokens == 13
    assert model.eyes().lock is model.lock


def test_what_is_no_picture_is_refused_in_words() -> None:
    model = eyes("vit")
    with pytest.raises(AttnvizError, match="array of shape"):
        av.capture(model, image=np.zeros((4, 4, 7)))
    with pytest.raises(AttnvizError, match="not int"):
        av.capture(model, image=3)
    with pytest.raises(ModelError, match="sees no pictures"):
        av.capture(llama(), image=PICTURE)

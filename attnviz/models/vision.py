"""A picture as a model gets it, with the grid of its patches and the picture as it was seen."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from attnviz.errors import AttnvizError
from attnviz.models.axis import Axis, patches
from attnviz.models.loaded import LoadedModel
from attnviz.models.prepared import Prepared

IMAGENET = ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))  # mean, standard deviation
FEATURE = 8  # pixels along one of a MobileViT's first feature map that attends
SPECIALS = {"cls_token": "[CLS]", "class_embedding": "[CLS]", "distillation_token": "[DIST]"}


def picture(model: LoadedModel, image: Any) -> Prepared:
    """A PIL image or an array (height, width, 3), prepared by the model's processor or config.

    Raises AttnvizError for something else than a picture.
    """
    shown = _rgb(image)
    pixels = _by_processor(model, shown) if model.processor is not None else None
    if pixels is None:
        pixels = _by_config(model, shown)
    inputs = {name: tensor.to(model.device) for name, tensor in pixels.items()}
    if getattr(model.config, "is_encoder_decoder", False):
        return Prepared("", inputs, {}, seen(inputs))  # a detector: what its sides are, lengths say
    return Prepared("", inputs, {"self": patch_axis(model, inputs["pixel_values"])}, seen(inputs))


def patch_axis(model: LoadedModel, pixels: Tensor) -> Axis:
    """The patches of this model's first layer, after the tokens that stand for no patch."""
    side = _patch(model)
    rows, columns = pixels.shape[-2] // side, pixels.shape[-1] // side
    return patches(rows, columns, side, _specials(model))


def seen(inputs: dict[str, Tensor]) -> np.ndarray:
    """The picture as it went in, each channel stretched to 0 to 255: (height, width, 3)."""
    pixels = inputs["pixel_values"][0].float().cpu()
    low = pixels.amin(dim=(1, 2), keepdim=True)
    span = (pixels.amax(dim=(1, 2), keepdim=True) - low).clamp(min=1e-6)
    out = ((pixels - low) / span * 255).byte().permute(1, 2, 0).numpy()
    return np.repeat(out, 3, axis=2) if out.shape[2] == 1 else out[:, :, :3].copy()


def _rgb(image: Any) -> Any:
    from PIL import Image

    if isinstance(image, np.ndarray):
        if image.ndim not in (2, 3) or (image.ndim == 3 and image.shape[2] not in (3, 4)):
            raise AttnvizError(
                "An image must be a picture or an array (height, width, 3) of 0 to 255; received "
                f"an array of shape {image.shape}."
            )
        array = image if image.dtype == np.uint8 else (np.clip(image, 0, 1) * 255).astype(np.uint8)
        image = Image.fromarray(array)
    if not isinstance(image, Image.Image):
        raise AttnvizError(f"An image must be a picture or an array, not {type(image).__name__}.")
    return image.convert("RGB")


def _by_processor(model: LoadedModel, image: Any) -> dict[str, Tensor]:
    out = model.processor(images=image, return_tensors="pt")
    return {name: value for name, value in out.items() if isinstance(value, Tensor)}


def _by_config(model: LoadedModel, image: Any) -> dict[str, Tensor]:
    """Resized to what the config says and normalised as ImageNet models expect it."""
    config = _seeing(model.config)
    size = getattr(config, "image_size", None) or 224
    height, width = size if isinstance(size, (list, tuple)) else (size, size)
    array = np.asarray(image.resize((width, height)), dtype=np.float32) / 255
    mean, deviation = (np.asarray(part, dtype=np.float32) for part in IMAGENET)
    array = (array - mean) / deviation
    if getattr(config, "num_channels", 3) == 1:
        array = array.mean(axis=2, keepdims=True)
    return {"pixel_values": torch.from_numpy(array).permute(2, 0, 1)[None].to(model.dtype)}


def _seeing(config: Any) -> Any:
    """The config of the part that sees."""
    return getattr(config, "vision_config", None) or config


def _patch(model: LoadedModel) -> int:
    if hasattr(model.config, "output_stride"):
        return FEATURE  # its patches are of feature maps
    config = _seeing(model.config)  # patches may overlap: they stand a stride apart
    side = getattr(config, "patch_stride", None) or getattr(config, "patch_size", None)
    side = side[0] if isinstance(side, (list, tuple)) and side else side
    return int(side) if isinstance(side, int) and side > 0 else 16


def _specials(model: LoadedModel) -> tuple[str, ...]:
    """The names of the tokens before the patches, by the parameters that hold them."""
    found: list[str] = []
    for name, parameter in model.model.named_parameters():
        word = name.rsplit(".", 1)[-1]
        if word in SPECIALS and SPECIALS[word] not in found:
            found.append(SPECIALS[word])
        elif word == "register_tokens":
            found += [f"[REG{place}]" for place in range(parameter.shape[-2])]
    return tuple(found)

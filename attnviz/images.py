"""A picture as inputs: patches for tokens, with the grid that they came from.

Dosovitskiy et al. 2021, An image is worth 16x16 words, section 3.1 (arXiv:2010.11929).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from attnviz import seeded
from attnviz.errors import AttnvizError
from attnviz.input_checks import require_room, require_size
from attnviz.inputs import Inputs

if TYPE_CHECKING:
    from PIL.Image import Image


def image_inputs(
    image: Image | np.ndarray, patch: int = 16, d_model: int = 64, seed: int = 0
) -> Inputs:
    """The patches of a picture, row by row, each projected to d_model components; batch 1.

    image is a PIL image, or an array (height, width) or (height, width, 3): 0 to 255 in whole
    numbers, or 0 to 1 in fractions. What is left over at the right and at the bottom is cut off.
    The projection is drawn from the seed. The inputs' grid is (rows, columns). Raises AttnvizError.
    """
    require_size("patch", patch)
    require_size("d_model", d_model)
    pixels = _pixels(image)  # (height, width, 3), -1 to 1
    rows, columns = pixels.shape[0] // patch, pixels.shape[1] // patch
    if rows == 0 or columns == 0:
        raise AttnvizError(
            f"The image must be at least one patch of {patch} x {patch} pixels; received "
            f"{pixels.shape[1]} x {pixels.shape[0]} pixels: choose a smaller patch."
        )
    require_room(rows * columns, d_model, 1)
    cut = pixels[: rows * patch, : columns * patch]
    patches = cut.reshape(rows, patch, columns, patch, 3).transpose(0, 2, 1, 3, 4)
    flat = torch.from_numpy(np.ascontiguousarray(patches)).reshape(rows * columns, -1)
    projection = seeded.normal((flat.shape[1], d_model), seed, "patch") * flat.shape[1] ** -0.5
    return Inputs(
        (flat @ projection)[None].float(),
        [f"r{row}c{column}" for row in range(rows) for column in range(columns)],
        notes=[
            f"Patches: {rows} x {columns} of {patch} x {patch} pixels, row by row.",
            f"Embeddings: a projection of each patch's pixels, drawn from N(0, 1), seed {seed}.",
        ],
        grid=(rows, columns),
    )


def _pixels(image: Any) -> np.ndarray:
    """(height, width, 3) in float64, -1 to 1."""
    if hasattr(image, "convert"):  # a PIL image
        image = np.asarray(image.convert("RGB"))
    if (
        not isinstance(image, np.ndarray)
        or image.ndim not in (2, 3)
        or image.dtype.kind not in "uif"
    ):
        raise AttnvizError(
            f"The image must be a PIL image or an array of numbers, (height, width) or (height, "
            f"width, 3); received {type(image).__name__}."
        )
    if image.ndim == 2:
        image = np.repeat(image[..., None], 3, axis=-1)
    top = 1 if image.dtype.kind == "f" else 255
    if image.shape[2] != 3 or not bool(((image >= 0) & (image <= top)).all()):
        raise AttnvizError(
            f"The image must have 3 colours of values from 0 to {top}; received shape "
            f"{image.shape}."
        )
    return image.astype(np.float64) / top * 2 - 1

"""Pictures to look at: one drawn from a seed, or a visitor's own file, read with care."""

from __future__ import annotations

import struct
import warnings
import zlib
from io import BytesIO

import numpy as np
from jaxtyping import UInt8
from PIL import Image, ImageOps, UnidentifiedImageError

from attnviz import seeded
from attnviz.errors import AttnvizError
from attnviz.input_checks import require_size

SIDE = 256
"""Pixels along the longer side of a picture as it is cut into patches."""
LARGEST_FILE = 5 * 2**20
"""Bytes; .streamlit/config.toml refuses larger uploads before they get here."""
MOST_PIXELS = 24_000_000
"""Of a file before it is made smaller: 72 MB of colours."""
_COLOURS = ((213, 94, 0), (0, 114, 178), (0, 158, 115))  # Okabe and Ito
_PAPER = (236, 231, 221)


def shapes(seed: int = 0, side: int = SIDE) -> UInt8[np.ndarray, "{side} {side} 3"]:
    """A disc, a square and a triangle on plain paper, in places that the seed decides.

    >>> shapes(seed=0, side=32).shape
    (32, 32, 3)
    """
    require_size("side", side)
    drawn = seeded.normal((3, 3), seed, "shapes").clamp(-2, 2) / 2  # (shape, x y size), -1 to 1
    order = seeded.normal((4,), seed, "quarters").argsort().tolist()
    y, x = np.mgrid[0:side, 0:side] / side
    picture = np.broadcast_to(np.array(_PAPER, np.uint8), (side, side, 3)).copy()
    for number, (right, down, large) in enumerate(drawn.tolist()):
        quarter = order[number]
        dx = x - (0.27 + 0.46 * (quarter % 2) + 0.06 * right)
        dy = y - (0.27 + 0.46 * (quarter // 2) + 0.06 * down)
        reach = 0.15 + 0.04 * large
        inside = (
            dx**2 + dy**2 < reach**2,
            (abs(dx) < reach) & (abs(dy) < reach),
            (dy < 0.8 * reach) & (dy > 2 * abs(dx) - 1.2 * reach),
        )[number]
        picture[inside] = _COLOURS[number]
    return picture


def read_picture(data: bytes) -> Image.Image:
    """The picture of a PNG or JPEG file, upright, in RGB, its longer side made SIDE pixels.

    Whatever is transparent is laid on white. Raises AttnvizError for anything else, for a file
    above LARGEST_FILE bytes or MOST_PIXELS, and for one that is broken.
    """
    if not isinstance(data, bytes) or not data:
        raise AttnvizError("The file is empty; choose a PNG or JPEG picture.")
    if len(data) > LARGEST_FILE:
        raise AttnvizError(
            f"The file has {len(data):,} bytes and at most {LARGEST_FILE:,} are taken; save the "
            f"picture smaller."
        )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of its own limits; ours are below and above them
            with Image.open(BytesIO(data), formats=("PNG", "JPEG")) as opened:
                width, height = opened.size
                if width * height > MOST_PIXELS:
                    raise AttnvizError(
                        f"The picture has {width:,} x {height:,} pixels and at most "
                        f"{MOST_PIXELS:,} in all are read; save it smaller."
                    )
                opened.draft("RGB", (2 * SIDE, 2 * SIDE))  # a JPEG need not be decoded in full
                picture = _on_white(ImageOps.exif_transpose(opened))
    except AttnvizError:  # which is a ValueError too
        raise
    except UnidentifiedImageError:
        raise AttnvizError("The file is no PNG or JPEG picture; save it as one of these.") from None
    except Image.DecompressionBombError:
        raise AttnvizError(
            f"The picture has more pixels than the {MOST_PIXELS:,} that are read; save it smaller."
        ) from None
    # What Pillow raises for broken files, by its own tests and by trying.
    except (OSError, ValueError, SyntaxError, EOFError, struct.error, zlib.error, MemoryError):
        raise AttnvizError(
            "The picture's file is broken or cut short, and could not be read to its end; save it "
            "again."
        ) from None
    larger = max(picture.size)
    size = tuple(max(1, round(length * SIDE / larger)) for length in picture.size)
    return picture.resize((size[0], size[1]), Image.Resampling.LANCZOS)


def _on_white(picture: Image.Image) -> Image.Image:
    if picture.mode.startswith("I") or picture.mode == "F":  # 16 bits a grey
        grey = np.asarray(picture, dtype=np.float64) / 256
        return Image.fromarray(grey.clip(0, 255).astype(np.uint8)).convert("RGB")
    clear = picture.convert("RGBA")
    white = Image.new("RGBA", clear.size, (255, 255, 255, 255))
    return Image.alpha_composite(white, clear).convert("RGB")

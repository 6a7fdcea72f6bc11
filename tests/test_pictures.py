"""Pictures drawn from a seed, and files that a visitor may send: whole, broken, or made to harm."""

from __future__ import annotations

import struct
import zlib
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import attnviz as av
from attnviz import pictures
from attnviz.pictures import SIDE, read_picture, shapes

PIXELS = np.random.default_rng(0).integers(0, 256, (40, 60, 3), dtype=np.uint8)


def file_of(picture: Image.Image, kind: str = "PNG", **options: object) -> bytes:
    out = BytesIO()
    picture.save(out, kind, **options)
    return out.getvalue()


PNG = file_of(Image.fromarray(PIXELS))


def claiming(width: int, height: int) -> bytes:
    """A PNG of a few bytes that says it is as large as that: a decompression bomb."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return (
            struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        )

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = chunk(b"IDAT", zlib.compress(b"\0" * 1000))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + body + chunk(b"IEND", b"")


def test_shapes_are_the_seeds() -> None:
    picture = shapes(0)
    assert picture.shape == (SIDE, SIDE, 3)
    assert np.array_equal(picture, shapes(0))
    assert not np.array_equal(picture, shapes(1))
    for seed in range(20):
        colours = {tuple(colour) for colour in shapes(seed, 64).reshape(-1, 3).tolist()}
        assert colours == {(213, 94, 0), (0, 114, 178), (0, 158, 115), (236, 231, 221)}
    assert av.image_inputs(shapes(3), patch=32).grid == (8, 8)


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
@pytest.mark.parametrize("mode", ["RGB", "L", "P", "1", "RGBA", "LA", "CMYK", "I;16"])
def test_every_way_of_storing_colours_is_read(mode: str, kind: str) -> None:
    if (kind == "JPEG" and mode not in ("RGB", "L", "CMYK")) or (kind, mode) == ("PNG", "CMYK"):
        pytest.skip("no such file")
    given = Image.fromarray(PIXELS)
    if mode == "I;16":
        given = Image.fromarray(np.asarray(given.convert("L")).astype(np.uint16) * 257)
    else:
        given = given.convert(mode)
    read = read_picture(file_of(given, kind))
    assert read.mode == "RGB"
    assert read.size == (256, 171)
    expected = Image.fromarray(PIXELS).convert("L" if mode in ("L", "LA", "I;16") else "RGB")
    small = np.asarray(read.resize((6, 4), Image.Resampling.BOX).convert("RGB"), float)
    wanted = np.asarray(expected.resize((6, 4), Image.Resampling.BOX).convert("RGB"), float)
    if mode not in ("1", "P"):
        assert np.abs(small - wanted).max() < 16


def test_what_is_transparent_is_white_and_turned_pictures_are_upright() -> None:
    clear = Image.new("RGBA", (10, 10), (255, 0, 0, 0))
    assert np.asarray(read_picture(file_of(clear))).min() == 255
    turned = Image.Exif()
    turned[0x0112] = 6  # a quarter turn
    wide = file_of(Image.fromarray(PIXELS), "JPEG", exif=turned.tobytes())
    assert read_picture(wide).size == (171, 256)


BAD = {
    "nothing": (b"", "The file is empty"),
    "text": (b"not a picture at all", "no PNG or JPEG"),
    "gif": (file_of(Image.fromarray(PIXELS), "GIF"), "no PNG or JPEG"),
    "webp": (b"RIFF\x24\x00\x00\x00WEBPVP8 ", "no PNG or JPEG"),
    "svg": (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "no PNG or JPEG"),
    "too many bytes": (PNG + b"\0" * 6_000_000, "at most 5,242,880 are taken"),
    "bomb": (claiming(30_000, 30_000), "more pixels than the 24,000,000"),
    "smaller bomb": (claiming(6_000, 6_000), r"6,000 x 6,000 pixels and at most"),
    "claims more than it has": (claiming(500, 500), "broken or cut short"),
    "cut short": (PNG[: len(PNG) // 2], "broken or cut short"),
    "jpeg cut short": (file_of(Image.fromarray(PIXELS), "JPEG")[:-400], "broken or cut short"),
    "head alone": (PNG[:20], "PNG or JPEG|broken"),
}


@pytest.mark.parametrize(("data", "sentence"), BAD.values(), ids=BAD.keys())
def test_what_cannot_be_read_is_told_in_a_sentence(data: bytes, sentence: str) -> None:
    with pytest.raises(av.AttnvizError, match=sentence) as caught:
        read_picture(data)
    assert str(caught.value).endswith(".")


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
def test_no_damage_anywhere_gives_anything_but_a_picture_or_a_sentence(kind: str) -> None:
    whole = file_of(Image.fromarray(PIXELS), kind)
    dice = np.random.default_rng(1)
    refused = 0
    for _ in range(150):
        data = bytearray(whole)
        for place in dice.integers(0, len(data), dice.integers(1, 6)):
            data[place] = dice.integers(0, 256)
        try:
            assert read_picture(bytes(data[: dice.integers(1, len(data) + 1)])).mode == "RGB"
        except av.AttnvizError:
            refused += 1
    assert refused > 50


def test_the_servers_own_limit_is_ours() -> None:
    config = (Path(__file__).parents[1] / ".streamlit" / "config.toml").read_text()
    assert f"maxUploadSize = {pictures.LARGEST_FILE // 2**20}\n" in config

"""Bytes and layers in words."""

import pytest

from attnviz import kv_cache as kv
from attnviz.kv_cache.words import readable, stack


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (0.5, "0.5 bytes"),
        (1023, "1023 bytes"),
        (1024, "1.00 KiB"),
        (70_272, "68.6 KiB"),
        (2**20 - 1, "1,024 KiB"),
        (2**20, "1.00 MiB"),
        (536_870_912, "512 MiB"),
        (29_440_401_408, "27.4 GiB"),
        (4464 * 2**30, "4.36 TiB"),
        (5000 * 2**50, "5,000 PiB"),
    ],
)
def test_bytes(count: float, words: str):
    assert readable(count) == words


def test_a_stack():
    assert stack(kv.preset("gemma-3-1b")) == (
        "22 sliding: keys and values, 1 KV head × 256, of the last 512 tokens",
        "4 full: keys and values, 1 KV head × 256",
    )
    assert stack(kv.preset("kimi-k3")) == (
        "69 linear: KDA (Kimi Delta Attention): a state of 96 × 128 × 128 "
        "and 3 convolution columns",
        "24 latent: latent 512 + rotary key 64",
    )
    assert stack(kv.preset("all-minilm-l6-v2")) == ("6 none: nothing",)
    for spec in kv.presets():
        assert all(stack(spec))

"""One setting for the device; the number format follows it."""

from __future__ import annotations

import pytest
import torch

from attnviz.device import absent, device, dtype_for, present
from attnviz.errors import AttnvizError
from attnviz.settings import settings


def test_auto_takes_what_is_there() -> None:
    chosen = device("auto")
    expected = "cuda" if torch.cuda.is_available() else None
    assert chosen.type == expected or chosen.type in ("cpu", "mps")
    torch.zeros(1, device=chosen)


def test_the_setting_decides_unless_a_name_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATTNVIZ_DEVICE", "cpu")
    settings.cache_clear()
    try:
        assert device() == torch.device("cpu")
        monkeypatch.setenv("ATTNVIZ_DEVICE", "abacus")
        settings.cache_clear()
        assert device("cpu") == torch.device("cpu")
        with pytest.raises(AttnvizError, match="'abacus'"):
            device()
    finally:
        monkeypatch.undo()
        settings.cache_clear()


@pytest.mark.parametrize("name", ["cuda:99", "meta", "cpu:7", "", " "])
def test_a_device_that_is_not_there_is_refused_in_words(name: str) -> None:
    if not name:
        assert device(name)  # nothing asked for: the setting
        return
    with pytest.raises(AttnvizError, match=r"auto"):
        device(name)


def test_dtype_follows_the_device() -> None:
    cpu, cuda = torch.device("cpu"), torch.device("cuda")
    assert dtype_for(cpu, torch.bfloat16) is torch.float32
    assert dtype_for(cuda, torch.bfloat16) is torch.bfloat16
    assert dtype_for(cuda, torch.float32) is torch.float32
    assert dtype_for(cuda) is torch.float32


def test_every_kind_of_device_is_here_or_has_a_reason() -> None:
    here, missing = present(), absent()
    assert "cpu" in here
    for name in here:
        assert device(name).type == name.partition(":")[0]
    assert {*missing, *(name.partition(":")[0] for name in here)} == {"cpu", "cuda", "mps"}
    assert all(reason.endswith(".") for reason in missing.values())
    for kind in missing:
        with pytest.raises(AttnvizError, match="no device"):
            device(kind)

"""A deployment's limits come from the environment, and nonsense there is told in a sentence."""

from collections.abc import Iterator
from math import inf
from pathlib import Path

import pytest

from attnviz.errors import AttnvizError
from attnviz.settings import settings


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("MAX_TOKENS", "MEMORY_GIB", "HUB", "MODEL_DIRS", "CACHE", "DEVICE"):
        monkeypatch.delenv(f"ATTNVIZ_{name}", raising=False)
    settings.cache_clear()
    yield
    settings.cache_clear()


def test_defaults() -> None:
    found = settings()
    assert (found.max_tokens, found.max_characters, found.max_models) == (8192, 50_000, 3)
    assert found.memory_gib == inf
    assert (found.device, found.hub, found.model_dirs) == ("auto", True, ())


def test_values_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    values = {"MAX_TOKENS": "64", "MEMORY_GIB": "0.5", "HUB": "off", "MODEL_DIRS": "/a:/b"}
    for name, value in values.items():
        monkeypatch.setenv(f"ATTNVIZ_{name}", value)
    found = settings()
    assert (found.max_tokens, found.memory_gib, found.hub) == (64, 0.5, False)
    assert found.model_dirs == (Path("/a"), Path("/b"))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ATTNVIZ_MAX_TOKENS", "many"),
        ("ATTNVIZ_MAX_TOKENS", "0"),
        ("ATTNVIZ_MEMORY_GIB", "nan"),
        ("ATTNVIZ_MEMORY_GIB", "-1"),
        ("ATTNVIZ_HUB", "perhaps"),
    ],
)
def test_nonsense_names_the_variable(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(AttnvizError, match=name):
        settings()

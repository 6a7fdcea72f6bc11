"""The settings of a deployment, as a test wants them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from attnviz.settings import settings


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """environment(HUB="0") sets ATTNVIZ_HUB for the rest of the test."""

    def change(**variables: str) -> None:
        for name, value in variables.items():
            monkeypatch.setenv(f"ATTNVIZ_{name}", value)
        settings.cache_clear()

    yield change
    monkeypatch.undo()
    settings.cache_clear()

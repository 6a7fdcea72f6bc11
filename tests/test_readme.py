"""What the README promises: its code runs, its links lead somewhere, its settings exist."""

from __future__ import annotations

import os
import re
import runpy
from dataclasses import fields
from pathlib import Path

import pytest

from attnviz.settings import Settings
from attnviz.ui.pages import PAGES

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.models
def test_the_notebook_example_runs_and_shows_the_shape_it_says(tmp_path: Path) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    (tmp_path / "example.py").write_text(code)
    names = runpy.run_path(str(tmp_path / "example.py"))
    (said,) = re.findall(r"trace\.weights\.shape  # (\([\d, ]+\))", code)
    assert str(tuple(names["trace"].weights.shape)) == said
    capture = names["capture"]
    assert capture.weights(layer=8, head=1).shape == (capture.n_tokens, capture.n_tokens)


def test_every_setting_is_in_the_table_and_the_other_way_round() -> None:
    listed = set(re.findall(r"^\| `(ATTNVIZ_\w+)`", README, re.MULTILINE))
    source = (ROOT / "attnviz" / "settings.py").read_text()
    read = set(re.findall(r"ATTNVIZ_[A-Z_]+", source))
    assert listed == read | {"ATTNVIZ_CHROMIUM"}
    assert len(read) == len(fields(Settings))


def test_links_and_pictures_are_there() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert target.startswith("http") or (ROOT / target).is_file(), target
    pictures = re.findall(r"!\[([^\]]+)\]\(([^)]+)\)", README)
    assert pictures
    for words, target in pictures:
        assert len(words) > 20, f"{target} needs words for those who cannot see it"
        assert (ROOT / target).stat().st_size < 400_000, target


def test_every_page_and_make_target_is_told() -> None:
    for entry in PAGES:
        assert f"| {entry.title} |" in README
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    for name in re.findall(r"(?:^|`|chrome )make ([a-z]+)", README, re.MULTILINE):
        assert name in targets, f"make {name}"


def test_defaults_are_the_real_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    from attnviz.settings import settings

    for name in [name for name in os.environ if name.startswith("ATTNVIZ_")]:
        monkeypatch.delenv(name)
    settings.cache_clear()
    values = settings()
    table = dict(re.findall(r"^\| `(ATTNVIZ_\w+)` \| `([^`]+)`", README, re.MULTILINE))
    assert int(table["ATTNVIZ_MAX_TOKENS"]) == values.max_tokens
    assert int(table["ATTNVIZ_MAX_CHARACTERS"]) == values.max_characters
    assert int(table["ATTNVIZ_MAX_MODELS"]) == values.max_models
    assert (table["ATTNVIZ_HUB"] == "on") == values.hub
    assert table["ATTNVIZ_DEVICE"] == values.device
    settings.cache_clear()

"""Limits and switches of a deployment, read from the environment.

They hold at the pages' door. In a notebook the library trusts its owner.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import lru_cache
from math import inf
from pathlib import Path
from typing import TypeVar

from attnviz.errors import AttnvizError

Number = TypeVar("Number", int, float)


@dataclass(frozen=True)
class Settings:
    cache_dir: Path  # ATTNVIZ_CACHE: converted bundled models
    device: str  # ATTNVIZ_DEVICE: auto, cpu, cuda, cuda:1, mps
    hub: bool  # ATTNVIZ_HUB: may a visitor ask for a model from the Hub?
    model_dirs: tuple[Path, ...]  # ATTNVIZ_MODEL_DIRS: local folders a visitor may load from
    max_tokens: int  # ATTNVIZ_MAX_TOKENS: the longest capture
    max_characters: int  # ATTNVIZ_MAX_CHARACTERS: the longest text taken for tokenising
    memory_gib: float  # ATTNVIZ_MEMORY_GIB: a run's share; infinite: all that is free
    spill_gib: float  # ATTNVIZ_SPILL_GIB: of a run's queries and keys in memory, the rest on disk
    max_models: int  # ATTNVIZ_MAX_MODELS: loaded models kept


def _flag(name: str, default: bool) -> bool:
    text = os.environ.get(name, "").strip().lower()
    if text in ("", "1", "true", "yes", "on", "0", "false", "no", "off"):
        return default if text == "" else text in ("1", "true", "yes", "on")
    raise AttnvizError(f"{name} must be on or off, not {text!r}.")


def _number(name: str, kind: type[Number], default: Number) -> Number:
    text = os.environ.get(name, "").strip()
    if not text:
        return default
    try:
        value = kind(text)
    except ValueError:
        raise AttnvizError(f"{name} must be a number, not {text!r}.") from None
    if not value > 0:  # nan is not
        raise AttnvizError(f"{name} must be above 0, not {text!r}.")
    return value


@lru_cache(maxsize=1)
def settings() -> Settings:
    """The settings of this process; settings.cache_clear() reads the environment again."""
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    dirs = os.environ.get("ATTNVIZ_MODEL_DIRS", "")
    return Settings(
        cache_dir=Path(os.environ.get("ATTNVIZ_CACHE") or home / "attnviz"),
        device=os.environ.get("ATTNVIZ_DEVICE", "").strip() or "auto",
        hub=_flag("ATTNVIZ_HUB", True),
        model_dirs=tuple(Path(part) for part in dirs.split(os.pathsep) if part),
        max_tokens=_number("ATTNVIZ_MAX_TOKENS", int, 8192),
        max_characters=_number("ATTNVIZ_MAX_CHARACTERS", int, 50_000),
        memory_gib=_number("ATTNVIZ_MEMORY_GIB", float, inf),
        spill_gib=_number("ATTNVIZ_SPILL_GIB", float, 4.0),
        max_models=_number("ATTNVIZ_MAX_MODELS", int, 3),
    )

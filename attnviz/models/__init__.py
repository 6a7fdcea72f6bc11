"""Real models: found, loaded, run once, and their attention kept. Names are fetched lazily."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

_HOMES = {
    "LoadedModel": "attnviz.models.loaded",
    "from_transformers": "attnviz.models.loaded",
    "from_attentions": "attnviz.models.given",
    "load_model": "attnviz.models.loading",
    "get_model": "attnviz.models.loading",
    "check_visitor_model": "attnviz.models.loading",
    "Capture": "attnviz.models.captures",
    "capture": "attnviz.models.capturing",
}
_MODULES = ("catalog", "convert", "memory", "recorded", "tokens")

__all__ = [
    "Capture",
    "LoadedModel",
    "capture",
    "catalog",
    "check_visitor_model",
    "convert",
    "from_attentions",
    "from_transformers",
    "get_model",
    "load_model",
    "memory",
    "recorded",
    "tokens",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    if name in _MODULES:
        return importlib.import_module(f"attnviz.models.{name}")
    raise AttributeError(f"module 'attnviz.models' has no attribute {name!r}")


if TYPE_CHECKING:
    from attnviz.models import catalog, convert, memory, recorded, tokens
    from attnviz.models.captures import Capture
    from attnviz.models.capturing import capture
    from attnviz.models.given import from_attentions
    from attnviz.models.loaded import LoadedModel, from_transformers
    from attnviz.models.loading import check_visitor_model, get_model, load_model

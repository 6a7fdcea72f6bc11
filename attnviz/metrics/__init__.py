"""Tensor in, number out: what a map's numbers say, in one word each. Names are fetched lazily."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

_HOMES = {
    "head_metrics": "attnviz.metrics.heads",
    "row_metrics": "attnviz.metrics.heads",
}

__all__ = ["head_metrics", "row_metrics"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'attnviz.metrics' has no attribute {name!r}")


if TYPE_CHECKING:
    from attnviz.metrics.heads import head_metrics, row_metrics

"""Two runs beside each other: texts aligned token by token, maps subtracted, heads ranked.

Names are fetched lazily, so that importing the package loads no model library.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

_HOMES = {
    "Alignment": "alignment",
    "align": "alignment",
    "Changes": "changes",
    "Comparison": "comparison",
    "compare": "comparison",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'attnviz.comparing' has no attribute {name!r}")


if TYPE_CHECKING:
    from attnviz.comparing.alignment import Alignment as Alignment
    from attnviz.comparing.alignment import align as align
    from attnviz.comparing.changes import Changes as Changes
    from attnviz.comparing.comparison import Comparison as Comparison
    from attnviz.comparing.comparison import compare as compare

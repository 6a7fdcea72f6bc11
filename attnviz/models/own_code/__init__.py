"""Maps of models with attention code of their own, from what that code returns.

returned.py takes maps that are queries by keys as they come; a family that returns something
else (bands, windows of a picture) has a file that puts it in true coordinates.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attnviz.models.own_code.bands import banded
from attnviz.models.own_code.blocks import block_sparse, neighbours
from attnviz.models.own_code.global_local import global_local
from attnviz.models.own_code.returned import Found, returned
from attnviz.models.own_code.windows import windowed

FAMILIES: dict[str, Callable[..., list[Found]]] = {
    "big_bird": block_sparse,
    "bigbird_pegasus": block_sparse,
    "donut-swin": windowed,
    "led": banded,
    "longformer": banded,
    "longt5": neighbours,
    "pegasus_x": global_local,
    "swin": windowed,
    "swinv2": windowed,
}


def found_maps(model: Any, prepared: Any, outputs: Any, heard: Any) -> list[Found]:
    """The maps of a pass, from its outputs and from the softmaxes that a recorder heard.

    Raises ModelError where there are none.
    """
    family = FAMILIES.get(model.model.config.model_type, returned)
    return family(model, prepared, outputs, heard)

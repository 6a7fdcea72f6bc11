"""Maps of models with attention code of their own, from what that code returns.

returned.py takes maps that are queries by keys as they come; a family that returns something
else (bands, windows of a picture) has a file that puts it in true coordinates.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attnviz.errors import ModelError
from attnviz.models.own_code.angles import by_angle
from attnviz.models.own_code.averaging import averaged
from attnviz.models.own_code.bands import banded
from attnviz.models.own_code.blocks import block_sparse, neighbours, short_only
from attnviz.models.own_code.global_local import global_local
from attnviz.models.own_code.hashed import hashed
from attnviz.models.own_code.mask_units import mask_units
from attnviz.models.own_code.pooled_text import pooled_sides
from attnviz.models.own_code.returned import Found, returned
from attnviz.models.own_code.summaries import contexts, global_query
from attnviz.models.own_code.unfolded import unfolded
from attnviz.models.own_code.windows import windowed

FAMILIES: dict[str, Callable[..., list[Found]]] = {
    "big_bird": block_sparse,
    "bigbird_pegasus": block_sparse,
    "donut-swin": windowed,
    "hiera": mask_units,
    "led": banded,
    "longformer": banded,
    "longt5": neighbours,
    "mobilevit": unfolded,
    "mobilevitv2": contexts,
    "nystromformer": short_only,
    "pegasus_x": global_local,
    "poolformer": averaged,
    "reformer": hashed,
    "swiftformer": global_query,
    "swin": windowed,
    "swinv2": windowed,
    "yoso": by_angle,
}

POOLED = {"funnel": pooled_sides}
"""Families whose later layers read spans of tokens: what stands along a map of given lengths."""

REASONS = {
    "mra": "it approximates its weights at several resolutions inside a kernel of its own",
}
"""Why nothing that a model of this type computes is a map of queries by keys."""


def require_maps(model: Any) -> None:
    """ModelError, a sentence, for a kind of model that has no map of queries by keys."""
    reason = REASONS.get(model.config.model_type)
    if reason is not None:
        raise ModelError(f"{model.title} has no map to show: {reason}; choose another model.")


def found_maps(model: Any, prepared: Any, outputs: Any, heard: Any) -> list[Found]:
    """The maps of a pass, from its outputs and from the softmaxes that a recorder heard.

    Raises ModelError where there are none.
    """
    family = FAMILIES.get(model.model.config.model_type, returned)
    return family(model, prepared, outputs, heard)

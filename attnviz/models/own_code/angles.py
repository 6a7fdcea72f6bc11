"""YOSO: weights from the angles between queries and keys.

Zeng et al. 2021, You only sample (almost) once (arXiv:2111.09714), section 3.2: a pair's weight is
the chance that tau random hyperplanes part neither, (1 - angle / pi)^tau. What a query reads is
then made one long, so a row's scale does not matter; it is shown summing to 1.
"""

from __future__ import annotations

import math
from typing import Any

from attnviz.errors import ModelError
from attnviz.models.own_code.returned import Found


def by_angle(model: Any, prepared: Any, outputs: Any, heard: Any) -> list[Found]:
    """Every layer's weights. Raises ModelError where hashes are drawn instead of the chance."""
    config = model.model.config
    if not heard.raw:
        raise ModelError(
            f"{model.title} samples its weights by hashes and never has them; load it with "
            "use_expectation set in its config, or choose another model."
        )
    found = []
    for raw in heard.raw:
        chance = (1 - raw.weights / math.pi) ** config.hash_code_len  # (heads, queries, keys)
        found.append(Found(raw.group, raw.index or 0, chance / chance.sum(-1, keepdim=True)))
    return found

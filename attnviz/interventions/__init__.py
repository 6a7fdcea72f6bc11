"""Change a run and see what moves: heads removed, scaled, patched; tokens and pairs hidden.

Names are fetched lazily, so that importing the package loads no model library.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

_HOMES = {
    "Edit": "edits",
    "HideEdge": "edits",
    "HideToken": "edits",
    "Knockout": "edits",
    "Patch": "edits",
    "Scale": "edits",
    "Intervention": "running",
    "intervene": "running",
    "Sweep": "sweeping",
    "sweep": "sweeping",
    "head_logits": "attribution",
    "induction_circuit": "circuit",
    "outlets": "projections",
    "value_norms": "value_maps",
    "value_weighted": "value_maps",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'attnviz.interventions' has no attribute {name!r}")


if TYPE_CHECKING:
    from attnviz.interventions.attribution import head_logits as head_logits
    from attnviz.interventions.circuit import induction_circuit as induction_circuit
    from attnviz.interventions.edits import Edit as Edit
    from attnviz.interventions.edits import HideEdge as HideEdge
    from attnviz.interventions.edits import HideToken as HideToken
    from attnviz.interventions.edits import Knockout as Knockout
    from attnviz.interventions.edits import Patch as Patch
    from attnviz.interventions.edits import Scale as Scale
    from attnviz.interventions.projections import outlets as outlets
    from attnviz.interventions.running import Intervention as Intervention
    from attnviz.interventions.running import intervene as intervene
    from attnviz.interventions.sweeping import Sweep as Sweep
    from attnviz.interventions.sweeping import sweep as sweep
    from attnviz.interventions.value_maps import value_norms as value_norms
    from attnviz.interventions.value_maps import value_weighted as value_weighted

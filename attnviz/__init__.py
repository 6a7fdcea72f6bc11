"""attnviz: see attention, every variant of it, computed for real.

Importing this package imports neither torch nor transformers: each name below is fetched from
its module when it is first used.

>>> import attnviz as av
>>> x = av.random_inputs(length=6, d_model=32, seed=0)
>>> trace = av.run("grouped_query", x, n_heads=4, n_kv_heads=2, mask=av.masks.causal())
>>> tuple(trace.weights.shape)
(1, 4, 6, 6)
"""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any

# Before torch loads: its threads otherwise spin while they wait for each other, and on cores
# shared with other work (a browser, a second visitor) a capture took 25 s instead of 2 s.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
# Huge pages for large tensors: without them half the time of attention over 8,192 tokens went
# into the system handing out memory 4 KiB at a time (1.37 s of processor time instead of 0.72 s).
os.environ.setdefault("THP_MEM_ALLOC_ENABLE", "1")

_HOMES = {
    "AttnvizError": "attnviz.errors",
    "Inputs": "attnviz.inputs",
    "random_inputs": "attnviz.inputs",
    "text_inputs": "attnviz.inputs",
    "image_inputs": "attnviz.images",
    "Step": "attnviz.trace",
    "Trace": "attnviz.trace",
    "run": "attnviz.variants",
    "load_model": "attnviz.models",
    "from_transformers": "attnviz.models",
    "from_attentions": "attnviz.models",
    "capture": "attnviz.models",
    "Capture": "attnviz.models",
}
_MODULES = (
    *("comparing", "decoding", "figures", "hybrid", "kv_cache", "masks", "metrics", "models"),
    *("pictures", "variants"),
)

__all__ = [*_HOMES, *_MODULES]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"attnviz.{name}")
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'attnviz' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)


if TYPE_CHECKING:
    from attnviz import (
        comparing,
        decoding,
        figures,
        hybrid,
        kv_cache,
        masks,
        metrics,
        models,
        pictures,
        variants,
    )
    from attnviz.errors import AttnvizError
    from attnviz.images import image_inputs
    from attnviz.inputs import Inputs, random_inputs, text_inputs
    from attnviz.models import Capture, capture, from_attentions, from_transformers, load_model
    from attnviz.trace import Step, Trace
    from attnviz.variants import run

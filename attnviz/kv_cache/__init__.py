"""KV and state caches: which tensors a model keeps between tokens, and how many bytes that is.

>>> import attnviz as av
>>> spec = av.kv_cache.preset("llama-2-70b")
>>> av.kv_cache.size(spec, length=4096).total_bytes
1342177280
"""

from attnviz.kv_cache.accountings import ACCOUNTINGS
from attnviz.kv_cache.allocation import Allocated, allocate
from attnviz.kv_cache.bandwidth import Bound, decoding_bound
from attnviz.kv_cache.capacity import GIB, Room, gib, longest_context, most_sequences
from attnviz.kv_cache.crossing import crossing
from attnviz.kv_cache.designs import (
    alternatives,
    divisors,
    equal_groups,
    grouped_query,
    latent_attention,
)
from attnviz.kv_cache.dtypes import BITS
from attnviz.kv_cache.formulas import Formula, Term, formula
from attnviz.kv_cache.layers import (
    Cross,
    Full,
    Latent,
    Layer,
    Linear,
    NoCache,
    Shared,
    Sliding,
    Stored,
)
from attnviz.kv_cache.library import preset, presets
from attnviz.kv_cache.measurement import Measured, measure
from attnviz.kv_cache.pasted import from_json
from attnviz.kv_cache.reduction import BASELINES, Reduction, reduction
from attnviz.kv_cache.sizes import LayerSize, Size, size
from attnviz.kv_cache.spec import CacheSpec, Provenance
from attnviz.kv_cache.tables import compare, to_json
from attnviz.kv_cache.unfolded import (
    Unfolded,
    context_arithmetic,
    resized,
    unfold,
    unfold_room,
)

DTYPES = tuple(BITS)

__all__ = [
    "ACCOUNTINGS",
    "BASELINES",
    "DTYPES",
    "GIB",
    "Allocated",
    "Bound",
    "CacheSpec",
    "Cross",
    "Formula",
    "Full",
    "Latent",
    "Layer",
    "LayerSize",
    "Linear",
    "Measured",
    "NoCache",
    "Provenance",
    "Reduction",
    "Room",
    "Shared",
    "Size",
    "Sliding",
    "Stored",
    "Term",
    "Unfolded",
    "allocate",
    "alternatives",
    "compare",
    "context_arithmetic",
    "crossing",
    "decoding_bound",
    "divisors",
    "equal_groups",
    "formula",
    "from_json",
    "gib",
    "grouped_query",
    "latent_attention",
    "longest_context",
    "measure",
    "most_sequences",
    "preset",
    "presets",
    "reduction",
    "resized",
    "size",
    "to_json",
    "unfold",
    "unfold_room",
]

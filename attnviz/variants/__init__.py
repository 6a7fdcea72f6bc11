"""The registry of variants: everything that `run` can compute.

>>> import attnviz as av
>>> x = av.random_inputs(length=5, d_model=16, seed=0)
>>> trace = av.run("multi_head", x, n_heads=4, mask=av.masks.causal())
>>> tuple(trace.weights.shape), tuple(trace.output.shape)
((1, 4, 5, 5), (1, 5, 16))
>>> trace.names[:4]
('inputs', 'query', 'key', 'value')
"""

import inspect
import textwrap

from attnviz.errors import AttnvizError
from attnviz.variants import (
    additive,
    delta_rule,
    gated_delta_rule,
    gated_latent,
    grouped_query,
    hyena,
    kimi_delta,
    latent,
    lightning,
    linear,
    linformer,
    mamba2,
    multi_head,
    multi_token,
    object_query,
    retention,
    scaled_dot_product,
    shifted_window,
    sparse_topk,
)
from attnviz.variants.recurrent import probed_map, state_at
from attnviz.variants.run import parameters, run
from attnviz.variants.variant import Variant

VARIANTS: dict[str, Variant] = {
    "scaled_dot_product": scaled_dot_product.VARIANT,
    "multi_head": multi_head.VARIANT,
    "grouped_query": grouped_query.VARIANT,
    "additive": additive.VARIANT,
    "latent": latent.VARIANT,
    "gated_latent": gated_latent.VARIANT,
    "multi_token": multi_token.VARIANT,
    "sparse_topk": sparse_topk.VARIANT,
    "linformer": linformer.VARIANT,
    "shifted_window": shifted_window.VARIANT,
    "object_query": object_query.VARIANT,
    "linear": linear.VARIANT,
    "retention": retention.VARIANT,
    "delta_rule": delta_rule.VARIANT,
    "gated_delta_rule": gated_delta_rule.VARIANT,
    "kimi_delta": kimi_delta.VARIANT,
    "lightning": lightning.VARIANT,
    "mamba2": mamba2.VARIANT,
    "hyena": hyena.VARIANT,
}


def names() -> tuple[str, ...]:
    """Every registered variant."""
    return tuple(VARIANTS)


def find(name: str) -> Variant:
    """The variant of that name, or AttnvizError with the names that there are."""
    if not isinstance(name, str) or name not in VARIANTS:
        raise AttnvizError(f"There is no variant {name!r}; the variants are {', '.join(VARIANTS)}.")
    return VARIANTS[name]


def source(name: str) -> str:
    """The Python source of the functions that compute a variant, as they run."""
    variant = find(name)
    sources = (inspect.getsource(part) for part in (variant.compute, *variant.parts))
    return "\n\n".join(map(textwrap.dedent, sources))


__all__ = ["VARIANTS", "find", "names", "parameters", "probed_map", "run", "source", "state_at"]

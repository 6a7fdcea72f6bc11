"""Inputs and masks that every softmax variant is held to."""

from __future__ import annotations

import torch

import attnviz as av
from attnviz import masks
from tests.variants.recurrent_cases import RECURRENT

BATCH, QUERIES, KEYS, D_MODEL = 2, 7, 5, 24
EMOJI = "👩‍👩‍👧 says 🙂 to 🙂, ça va?"
TOLERANCE = {"float32": 1e-6, "float64": 1e-12}

SELF_MASKS = {
    "none": None,
    "causal": masks.causal(),
    "bidirectional": masks.bidirectional(),
    "padding": masks.padding([7, 4]),
    "sliding window": masks.sliding_window(2),
    "prefix": masks.prefix(3),
    "causal and window": masks.causal() & masks.sliding_window(3),
    "causal or prefix": masks.causal() | masks.prefix(2),
    "causal and padding": masks.causal() & masks.padding([6, 3]),
    "far apart": ~masks.sliding_window(2),
}
CROSS_MASKS = {
    "none": None,
    "padding": masks.padding([5, 2]),
    "causal": masks.causal(),
    "prefix or window": masks.prefix(1) | masks.sliding_window(2),
}

NEVER_CAUSAL = ("linformer", "object_query")
"""Variants in which every query sees every token, whatever is asked for."""
OWN_QUERIES = {"object_query": 6}
"""Variants that ask by queries of their own, and how many unless told."""
CAUSAL_BY_ITSELF = (*RECURRENT, "hyena")
"""Variants that take no mask: they hold what came before and nothing else."""


def fitting_mask(name: str) -> masks.Mask | None:
    """Causal, where the variant can be."""
    return None if name in NEVER_CAUSAL else masks.causal()


def asking(dtype: str = "float32") -> av.Inputs:
    return _cast(av.random_inputs(QUERIES, D_MODEL, batch=BATCH, seed=1), dtype)


def answering(dtype: str = "float32") -> av.Inputs:
    return _cast(av.random_inputs(KEYS, D_MODEL, batch=BATCH, seed=2), dtype)


def _cast(inputs: av.Inputs, dtype: str) -> av.Inputs:
    return av.Inputs(inputs.embeddings.to(getattr(torch, dtype)))


def largest_difference(left: torch.Tensor, right: torch.Tensor) -> float:
    assert left.shape == right.shape
    return float((left - right).abs().max())


def relative_difference(left: torch.Tensor, right: torch.Tensor) -> float:
    """The largest difference, in units of the largest number where that is above 1.

    For sums without a normaliser, which grow with every token.
    """
    return largest_difference(left, right) / max(1.0, float(right.abs().max()))

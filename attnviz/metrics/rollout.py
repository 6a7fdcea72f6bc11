"""Attention through all layers at once: rollout and flow, with the residual in.

Abnar and Zuidema 2020, Quantifying Attention Flow in Transformers (arXiv:2005.00928). Both treat
a layer as the average of its heads and of the residual, A = (W + I) / 2, and so say how weights
chain, not what a model computes: values, projections and MLPs are left out.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from attnviz.errors import AttnvizError
from attnviz.input_checks import place

if TYPE_CHECKING:
    from attnviz.models.captures import Capture
    from attnviz.models.progress import Progress

MOST_TOKENS = 512
"""Rollout keeps a whole map a layer."""

FLOW_TOKENS = 64
"""A flow is one search through all layers for each pair of tokens: seconds up to here."""

UNITS = 1_000_000
"""A capacity of 1 in the integers that the flow is computed in."""


@dataclass(frozen=True, eq=False)
class Chains:
    """How tokens reach tokens through a stack of layers."""

    layers: tuple[int, ...]  # the model's own numbers
    rollout: Float[np.ndarray, "layers tokens tokens"] = field(repr=False)
    flow: Float[np.ndarray, "tokens tokens"] | None = field(repr=False)  # None: a long text

    @property
    def nbytes(self) -> int:
        return self.rollout.nbytes


def chains(capture: Capture, group: str | None = None, progress: Progress | None = None) -> Chains:
    """Rollout after every layer of a capture, and of a short text the flow of the last one.

    Raises AttnvizError for more than MOST_TOKENS tokens, for cross maps, and for a model some of
    whose layers have no softmax weights: tokens meet in those too, which no chain of the others
    tells.
    """
    part = capture.of(group)
    layers = part.captured
    if part.n_tokens > MOST_TOKENS:
        raise AttnvizError(
            f"Maps are chained on at most {MOST_TOKENS} tokens, not {part.n_tokens:,}; choose a "
            "shorter text."
        )
    if part.keys is not None:
        raise AttnvizError(
            "Cross maps cannot be chained: their queries and keys are tokens of two texts. Choose "
            "another of the stacks."
        )
    # Beside its attention a layer may have a second mixer (Falcon-H1), with the same number.
    others = {at.index for at in part.layers if at not in layers or at.effective}
    if others or not layers:
        raise AttnvizError(
            f"{capture.model_name} has {len(others)} layers with mixers that have no softmax "
            "weights, through which tokens reach tokens as well; only a stack of softmax layers "
            "can be chained."
        )
    maps = np.stack([_mean(part, layer.index, layer.n_heads) for layer in layers])
    found = rollout(maps)
    flows = None
    if part.n_tokens <= FLOW_TOKENS:
        rows = []
        for query in range(part.n_tokens):
            if progress is not None:
                words = f"Flow from token {query + 1} of {part.n_tokens}"
                progress((query / part.n_tokens) ** 2, words)
            rows.append(flow(maps, query))
        flows = np.stack(rows)
    return Chains(tuple(layer.index for layer in layers), found, flows)


def _mean(capture: Capture, layer: int, n_heads: int) -> Float[np.ndarray, "queries keys"]:
    """One layer's weights averaged over its heads, in float64."""
    whole = slice(None)
    weights = capture.records[layer].weights(slice(0, n_heads), whole, whole)
    return weights.double().mean(0).numpy()


def with_residual(
    maps: Float[np.ndarray, "layers tokens tokens"],
) -> Float[np.ndarray, "layers tokens tokens"]:
    """(W + I) / 2, each row divided by its sum: rows sum to 1 even where a sink took a part.

    A row without weight reads itself alone.
    """
    size = maps.shape[-1]
    mixed = (maps.astype(np.float64) + np.eye(size)) / 2
    return mixed / mixed.sum(-1, keepdims=True)


def rollout(
    maps: Float[np.ndarray, "layers queries keys"],
) -> Float[np.ndarray, "layers queries keys"]:
    """A_l A_(l-1) .. A_1 for each layer l (section 3.1): how much of token j reaches token i.

    maps: softmax weights averaged over heads, the first layer first. Every row sums to 1.
    """
    _require_weights(maps)
    steps = with_residual(maps)
    found = np.empty_like(steps)
    found[0] = steps[0]
    for layer in range(1, len(steps)):
        found[layer] = steps[layer] @ found[layer - 1]
    return found


def flow(maps: Float[np.ndarray, "layers queries keys"], query: int) -> Float[np.ndarray, " keys"]:
    """The largest flow from token `query` of the last layer to each token of the input.

    Section 3.2: edges of the layers' graph have the weights of A as capacities. To a millionth.
    """
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import maximum_flow

    _require_weights(maps)
    n_layers, n_tokens = maps.shape[:2]
    query = place("tokens", query, n_tokens)
    capacities = np.rint(with_residual(maps) * UNITS).astype(np.int32)
    layer, row, col = capacities.nonzero()
    graph = coo_matrix(
        (
            capacities[layer, row, col],
            ((layer + 1) * n_tokens + row, layer * n_tokens + col),
        ),
        shape=((n_layers + 1) * n_tokens,) * 2,
        dtype=np.int32,
    ).tocsr()
    source = n_layers * n_tokens + query
    return (
        np.array([maximum_flow(graph, source, key).flow_value for key in range(n_tokens)]) / UNITS
    )


def _require_weights(maps: np.ndarray) -> None:
    if maps.ndim != 3 or not maps.size or maps.shape[1] != maps.shape[2]:
        raise AttnvizError(
            "Rollout takes square maps of every layer, (layers, tokens, tokens), not "
            f"{maps.shape}; cross maps and pooled layers cannot be chained."
        )
    if not (maps.min() >= 0 and maps.sum(-1).max() <= 1 + 1e-3):  # NaN is neither
        raise AttnvizError(
            "Rollout takes softmax weights; these maps hold negative numbers, rows above 1 (as "
            "effective maps do), or NaN."
        )

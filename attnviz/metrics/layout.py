"""Where a few hundred heads stand by how alike their maps are: an order, and a plane."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from attnviz.errors import AttnvizError
from attnviz.metrics.similarity import jensen_shannon, row_entropy

if TYPE_CHECKING:
    from attnviz.models.captures import Capture
    from attnviz.models.progress import Progress

MOST_TOKENS = 256
"""Maps are compared whole; longer texts would take minutes."""


@dataclass(frozen=True, eq=False)
class Likeness:
    """How alike all heads of a capture are."""

    places: tuple[tuple[int, int], ...]  # (layer, head) of each row
    distances: Float[np.ndarray, "heads heads"] = field(repr=False)
    order: Int[np.ndarray, " heads"] = field(repr=False)  # clustering_order
    points: Float[np.ndarray, "heads 2"] = field(repr=False)  # plane
    kept: float  # the share of the squared distances that the plane keeps

    @property
    def nbytes(self) -> int:
        return self.distances.nbytes


def likeness(
    capture: Capture, group: str | None = None, progress: Progress | None = None
) -> Likeness:
    """The distances between all heads, their order and their plane. Raises as head_distances."""
    places, distances = head_distances(capture, group, progress)
    points, kept = plane(distances)
    return Likeness(tuple(places), distances, clustering_order(distances), points, kept)


def head_distances(
    capture: Capture, group: str | None = None, progress: Progress | None = None
) -> tuple[list[tuple[int, int]], Float[np.ndarray, "heads heads"]]:
    """((layer, head) of each row, Jensen-Shannon distances between all heads of a capture).

    The distance is the square root of the mean divergence over queries, in bits: a metric (Endres
    and Schindelin 2003), 0 for equal maps, 1 for maps that share no key; Clark et al. 2019,
    section 6, place heads by it. What a row gives to a learned sink is one more key. Layers with
    effective maps are left out: their rows are no distributions.
    """
    part = capture.of(group)
    layers = [layer for layer in part.captured if not layer.effective]
    if part.n_tokens > MOST_TOKENS:
        raise AttnvizError(
            f"All heads are compared on at most {MOST_TOKENS} tokens, not {part.n_tokens:,}; "
            "choose a shorter text."
        )
    if not layers:
        raise AttnvizError("No layer here has softmax weights, so no heads can be compared.")
    places = [(layer.index, head) for layer in layers for head in range(layer.n_heads)]
    maps = torch.cat([_rows(part.records[one.index]) for one in layers])
    distances = torch.zeros(len(maps), len(maps))
    entropies = row_entropy(maps)
    for row in range(len(maps) - 1):
        if progress is not None:  # pairs done so far, of all
            done = 1 - ((len(maps) - row) / len(maps)) ** 2
            progress(done, f"Head {row + 1} of {len(maps)}")
        rest, known = maps[row + 1 :], (entropies[row], entropies[row + 1 :])
        distances[row, row + 1 :] = jensen_shannon(maps[row].expand_as(rest), rest, known).sqrt()
    return places, (distances + distances.T).numpy()


def _rows(record: Any) -> Float[Tensor, "heads queries cells"]:
    """A layer's weights, and in the last cell of a row what its sink has, if there is one."""
    every = slice(None)
    weights = record.weights(every, every, every).float()
    sink = torch.zeros_like(weights[..., :1])
    if getattr(record, "sinks", None) is not None:
        sink = record.sink_weights(every, every)[..., None].float()
    return torch.cat([weights, sink], -1)


def clustering_order(distances: Float[np.ndarray, "heads heads"]) -> Int[np.ndarray, " heads"]:
    """An order of the heads in which alike ones stand together: average linkage, leaves ordered
    so that neighbours are as close as the tree allows (Bar-Joseph et al. 2001)."""
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    if len(distances) < 3:
        return np.arange(len(distances))
    tree = linkage(squareform(distances, checks=False), "average", optimal_ordering=True)
    return leaves_list(tree)


def plane(
    distances: Float[np.ndarray, "heads heads"],
) -> tuple[Float[np.ndarray, "heads 2"], float]:
    """(two coordinates a head, the share of the squared distances that they keep).

    Classical scaling (Torgerson 1952): the two largest directions of the centred squares.
    """
    from scipy.linalg import eigh

    size = len(distances)
    centre = np.eye(size) - 1 / size
    products = -centre @ (distances.astype(np.float64) ** 2) @ centre / 2
    values, vectors = eigh(products)
    largest = values[::-1][:2].clip(min=0)
    places = vectors[:, ::-1][:, :2] * np.sqrt(largest)
    if size == 1:
        places = np.zeros((1, 2))
    total = values.clip(min=0).sum()
    return places, float(largest.sum() / total) if total > 0 else 1.0

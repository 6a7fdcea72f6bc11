"""Dropping parts of a cache while decoding: what each policy drops, and what that does.

Keys keep the rotation of their own positions, so what stays is what it was. Each layer and each
KV head decides alone: every policy says, from the attention that a head's keys have received so
far, which of them to keep.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from attnviz.decoding.rows import Rows
from attnviz.decoding.stale import divergence
from attnviz.decoding.stepping import Report, quiet, read, step, turn
from attnviz.errors import AttnvizError
from attnviz.kv_cache import measure
from attnviz.kv_cache.checks import whole
from attnviz.models import LoadedModel


@dataclass(frozen=True)
class Policy:
    """What to keep of each head's keys after a token.

    The first `sinks` tokens, the last `recent` ones, and of the rest the `heavy` ones that
    received most attention so far. Window: recent alone (Beltagy et al. 2020). Sinks + window:
    StreamingLLM (Xiao et al. 2023), here without renumbering positions. Heavy hitters: H2O
    (Zhang et al. 2023), scores summed over the query heads of a KV head.
    """

    recent: int
    sinks: int = 0
    heavy: int = 0

    def __post_init__(self) -> None:
        whole("recent (the last tokens kept)", self.recent)
        whole("sinks (the first tokens kept)", self.sinks, 0)
        whole("heavy (heavy hitters kept)", self.heavy, 0)

    @property
    def budget(self) -> int:
        return self.recent + self.sinks + self.heavy

    def keep(
        self, positions: Int[Tensor, "kv_heads kept"], received: Float[Tensor, "kv_heads kept"]
    ) -> Int[Tensor, "kv_heads fewer"]:
        """Which entries of each head's cache stay, in order."""
        n = positions.shape[1]
        if n <= self.budget:
            return torch.arange(n).expand(len(positions), n)
        value = received.clone().double()
        value[positions < self.sinks] = float("inf")
        value[:, n - self.recent :] = float("inf")
        best = value.topk(self.budget, dim=1).indices
        return best.sort(1).values


@dataclass(frozen=True, eq=False)
class Eviction:
    """A text decoded with a cache that forgets, beside the full one."""

    labels: tuple[str, ...]
    policy: Policy
    kl: tuple[float, ...]  # nats, of the next token after each position: full against evicted
    same: tuple[bool, ...]  # the most probable token is still the same
    bytes: tuple[int, ...]  # of the cache after each token, from its tensors
    full_bytes: tuple[int, ...]
    held: Bool[np.ndarray, "layers kv_heads queries keys"] = field(repr=False)  # seen by each query

    @property
    def nbytes(self) -> int:
        return int(self.held.nbytes)

    def dropped(self, layer: int, head: int) -> tuple[int, ...]:
        """Positions that the last token no longer found."""
        return tuple(np.flatnonzero(~self.held[layer, head, -1]).tolist())


def evict(model: LoadedModel, text: str, policy: Policy, *, progress: Report = quiet) -> Eviction:
    """Read a text token by token, forgetting by the policy after each, beside the full cache.

    Raises AttnvizError for a model with windows of its own, whose cache forgets already.
    """
    tokens = read(model, text)
    length, rows = len(tokens.ids), Rows()
    full, small = None, None
    positions: list[Tensor] = []
    received: list[Tensor] = []
    kl, same, sizes, full_sizes, held = [], [], [], [], []
    with turn(model, progress, rows):
        for place, token in enumerate(tokens.ids):
            exact, full = step(model, [token], full)
            rows.take()
            where = torch.tensor([[place]], device=model.device)
            logits, small = step(model, [token], small, position_ids=where)
            weights = rows.take()
            if place == 0:
                _require_full(model, small)
                heads = [layer.keys.shape[1] for layer in small.layers]
                positions = [torch.zeros(n, 0, dtype=torch.long) for n in heads]
                received = [torch.zeros(n, 0) for n in heads]
            held.append(_one_token(small, weights, place, length, policy, positions, received))
            kl.append(divergence(exact[0], logits[0]))
            same.append(int(exact[0].argmax()) == int(logits[0].argmax()))
            sizes.append(measure([layer.keys for layer in small.layers]).nominal_bytes)
            sizes[-1] += measure([layer.values for layer in small.layers]).nominal_bytes
            full_sizes.append(measure(full).nominal_bytes)
            progress((place + 1) / length, f"Token {place + 1} of {length}")
    stacked = np.stack(held, axis=2)
    return Eviction(
        tokens.labels, policy, tuple(kl), tuple(same), tuple(sizes), tuple(full_sizes), stacked
    )


def _one_token(
    cache: Any,
    weights: Sequence[Float[Tensor, "heads 1 kept"]],
    place: int,
    length: int,
    policy: Policy,
    positions: list[Tensor],
    received: list[Tensor],
) -> Bool[np.ndarray, "layers kv_heads keys"]:
    """Add the new token's attention, drop what the policy drops; what the query had seen."""
    seen = np.zeros((len(weights), positions[0].shape[0], length), bool)
    for index, (layer, row) in enumerate(zip(cache.layers, weights, strict=True)):
        G = positions[index].shape[0]
        here = torch.full((G, 1), place)
        positions[index] = torch.cat([positions[index], here], 1)
        seen[index] = _marked(positions[index], length)
        per_group = row[:, 0].cpu().reshape(G, -1, row.shape[2]).sum(1)  # (G, keys)
        before = torch.cat([received[index], torch.zeros(G, 1)], 1)
        received[index] = before + per_group
        kept = policy.keep(positions[index], received[index])
        positions[index] = positions[index].gather(1, kept)
        received[index] = received[index].gather(1, kept)
        if kept.shape[1] < layer.keys.shape[2]:
            layer.keys, layer.values = _gather(layer.keys, kept), _gather(layer.values, kept)
    return seen


def _gather(tensor: Tensor, kept: Int[Tensor, "kv_heads fewer"]) -> Tensor:
    index = kept.to(tensor.device)[None, :, :, None].expand(-1, -1, -1, tensor.shape[-1])
    return tensor.gather(2, index)


def _marked(
    positions: Int[Tensor, "kv_heads kept"], length: int
) -> Bool[np.ndarray, "kv_heads keys"]:
    marks = torch.zeros(len(positions), length, dtype=torch.bool)
    return marks.scatter(1, positions, True).numpy()


def _require_full(model: LoadedModel, cache: Any) -> None:
    if any(getattr(layer, "is_sliding", False) for layer in cache.layers):
        raise AttnvizError(
            f"{model.title} has windows of its own, so its cache forgets already; choose a model "
            "with full attention in every layer."
        )

"""Decoding as jobs for the board: each names its model, and holds none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from attnviz.decoding.eviction import Eviction, Policy, evict
from attnviz.decoding.generation import Generation, Passes, generate, two_passes
from attnviz.decoding.sharing import Shared, share
from attnviz.decoding.stale import Stale, stale
from attnviz.decoding.stepping import Report


@dataclass(frozen=True)
class _OfAModel:
    """A text and the model that reads it, which this deployment must let a visitor load."""

    model: str
    text: str

    def load(self, progress: Report) -> Any:
        from attnviz.models import check_visitor_model, get_model

        check_visitor_model(self.model)
        return get_model(self.model, progress=lambda fraction, words: progress(0.0, words))


@dataclass(frozen=True)
class Write(_OfAModel):
    """Write on, with the cache and without."""

    new_tokens: int

    def run(self, progress: Report) -> Generation:
        return generate(self.load(progress), self.text, self.new_tokens, progress=progress)


@dataclass(frozen=True)
class BothPasses(_OfAModel):
    """One pass beside token by token."""

    def run(self, progress: Report) -> Passes:
        return two_passes(self.load(progress), self.text, progress=progress)


@dataclass(frozen=True)
class Edit(_OfAModel):
    """Another token behind the cache."""

    position: int
    replacement: str
    causal: bool

    def run(self, progress: Report) -> Stale:
        return stale(
            self.load(progress),
            self.text,
            self.position,
            self.replacement,
            causal=self.causal,
            progress=progress,
        )


@dataclass(frozen=True)
class Evict(_OfAModel):
    """A cache that forgets."""

    policy: Policy

    def run(self, progress: Report) -> Eviction:
        return evict(self.load(progress), self.text, self.policy, progress=progress)


@dataclass(frozen=True)
class Share(_OfAModel):
    """KV heads averaged into fewer."""

    n_kv_heads: int

    def run(self, progress: Report) -> Shared:
        return share(self.load(progress), self.text, self.n_kv_heads, progress=progress)

"""Decoding with a cache: why it may be reused, what dropping or sharing parts of it does."""

from attnviz.decoding.eviction import Eviction, Policy, evict
from attnviz.decoding.generation import Generation, Passes, Step, generate, two_passes
from attnviz.decoding.sharing import Shared, share
from attnviz.decoding.stale import Stale, stale

__all__ = [
    "Eviction",
    "Generation",
    "Passes",
    "Policy",
    "Shared",
    "Stale",
    "Step",
    "evict",
    "generate",
    "share",
    "stale",
    "two_passes",
]

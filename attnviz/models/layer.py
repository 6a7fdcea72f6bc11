"""How the pages list a model's layers; free of torch, for recordings hold it too."""

from __future__ import annotations

from dataclasses import dataclass

STATES = ("linear", "state_space")
"""Kinds of layers that keep a state; their maps are capture.effective."""


@dataclass(frozen=True)
class Layer:
    """One layer of the model as the pages list it."""

    index: int  # its true number in the model, from 0
    kind: str  # full, sliding, mixing (no softmax, no state); without a map also STATES, none
    mixer: str  # the mechanism, by the name of the class that computes it
    n_heads: int
    n_kv_heads: int
    window: int | None = None  # keys a query sees, of a sliding layer
    captured: bool = True
    reason: str = ""  # why there is no map, where there is none
    sinks: bool = False  # rows sum to less than 1: the rest went to a learned sink
    softcap: float | None = None

    @property
    def effective(self) -> bool:
        """Whether its map is an effective one: signed, and not a probability."""
        return self.kind in (*STATES, "mixing")

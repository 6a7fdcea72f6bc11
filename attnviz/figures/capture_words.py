"""What the parts and numbers of a capture's figure are called on screen."""

from __future__ import annotations

from typing import Any

METRICS = {
    "entropy": "Entropy (nats)",
    "distance": "Mean distance (tokens)",
    "first": "Mass on the first token",
    "previous": "Mass on the previous token",
    "self": "Mass on the token itself",
    "span": "Effective span (keys)",
    "duplicate": "Duplicate-token score",
    "induction": "Induction score",
}
HIDDEN = {"hidden": "Mass on hidden special tokens"}
STATE = {
    "decay": "Kept of the state, a token",
    "strength": "Write strength",
    "state": "Norm of the state",
}
"""What the metric columns of a capture are called on screen, hidden special tokens, and those of
its effective maps."""

SOFTMAX = {
    "rows": "query: attends from",
    "cols": "key: attends to",
    "alt": "Attention",
    "what": "softmax weights",
    "sums": ", rows sum to 1",
    "file": "attention",
}
SIGNED = {
    "rows": "token that reads the state",
    "cols": "token that wrote to it",
    "alt": "Effective maps",
    "what": "exact effective map, signed",
    "sums": "",
    "file": "effective",
}
CROSS = SOFTMAX | {
    "rows": "decoder (query): attends from",
    "cols": "encoder (key): attends to",
    "alt": "Cross-attention",
}
NORMS = {
    "alt": "Value-weighted maps",
    "what": "norms of weight × value × W_O, not probabilities",
    "file": "value_weighted",
    "sums": "",
}
"""What the parts of a figure are called; of norms, some of them otherwise."""


def titles(capture: Any) -> dict[str, str]:
    """What the metrics are called on screen, in words where the maps are of words."""
    named = METRICS | HIDDEN | STATE
    if getattr(capture, "unit", "token") == "token":
        return named
    return {column: title.replace("token", "word") for column, title in named.items()}

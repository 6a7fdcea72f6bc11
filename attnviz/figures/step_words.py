"""What the tensors of a trace are called on screen: titles, the letters of their sides, colours."""

from __future__ import annotations

from collections.abc import Mapping

from attnviz.figures.figure import Accent

TITLES = {
    "inputs_tokens": "Token vectors",
    "inputs_positions": "Position vectors",
    "inputs": "Inputs X",
    "context_tokens": "Context's token vectors",
    "context_positions": "Context's position vectors",
    "context": "Context C",
    "query": "Queries Q = X·Wq",
    "key": "Keys K = {c}·Wk",
    "value": "Values V = {c}·Wv",
    "query_heads": "Queries of head {h}",
    "key_heads": "Keys of key/value head {g}",
    "value_heads": "Values of key/value head {g}",
    "query_rotated": "Queries, turned by position",
    "key_rotated": "Keys, turned by position",
    "query_features": "Queries as they are read",
    "key_features": "Keys as they are written",
    "value_features": "Values as they are written",
    "beta": "Write strength β",
    "step_size": "Step size Δ",
    "log_decay": "Logarithm of the decay",
    "decay": "Decay α: the share that stays",
    "initial_state": "Initial state S₀",
    "written": "Written to the state: u",
    "erased": "Erased from the state: e",
    "state_norm": "Size of the state ‖S‖",
    "state": "Last state S",
    "object_queries": "Object queries P",
    "target": "What was gathered before: X",
    "self_input": "Compared among the queries: X + P",
    "self_weights": "Weights among the queries, head {h}",
    "self_output": "Handed on among the queries: Z",
    "asking": "What the queries then hold: X'",
    "query_input": "What asks: X' + P",
    "memory_positions": "Positions of the patches: E",
    "key_input": "What is found: M + E",
    "scores": "Scores S = Q·Kᵀ",
    "scaled": "Scaled scores",
    "masked": "Masked scores",
    "weights": "Weights A = softmax",
    "initial_map": "Map of the initial state B",
    "heads": "Output of head {h}",
    "heads_normed": "Output of head {h}, normed",
    "transposed": "Heads of one token",
    "concatenated": "Heads side by side",
    "output": "Output O = A·V",
    "W_q": "Query matrix Wq",
    "W_k": "Key matrix Wk",
    "W_v": "Value matrix Wv",
    "W_o": "Output matrix Wo",
    "W_beta": "Write strength's matrix Wβ",
    "W_dt": "Decay's matrix Wdt",
    "A_log": "Decay's rate, log A",
    "dt_bias": "Decay's bias b",
    "D": "Skip D",
}
"""What each matrix is called above its picture; {c} is X or C, {h} and {g} number the heads."""

OWN_TITLES = {
    "object_query": {
        "inputs": "Memory M",
        "query": "Queries Q = (X' + P)·Wq",
        "key": "Keys K = (M + E)·Wk",
        "value": "Values V = M·Wv",
        "P": "Object queries, as learned",
        "X": "Gathered before, as drawn",
    }
}
"""Where a variant's step is made of something else than its name promises elsewhere."""

ACCENTS: dict[str, Accent] = {
    "query": "query",
    "key": "key",
    "value": "value",
    "mask": "mask",
    "output": "output",
}

CHANNELS = {
    "feature": ("feature", "d_model"),
    "channel": ("channel", "d_k"),
    "value_channel": ("value channel", "d_v"),
    "all_channel": ("channel, head by head", "H·d_k"),
    "all_kv_channel": ("channel, head by head", "G·d_k"),
    "all_value_channel": ("channel, head by head", "G·d_v"),
    "all_output_channel": ("channel, head by head", "H·d_v"),
    "head": ("head", "H"),
    "other_query": ("object query", "n"),
    "kv_head": ("key/value head", "G"),
    "key_head": ("key head", "G"),
    "alone": ("", "1"),
}
"""Axes whose places have numbers only: what runs along them, and the letter for how many."""

MATRICES: dict[str, tuple[str, str, Accent]] = {
    "W_q": ("feature", "channel", "query"),
    "W_k": ("feature", "channel", "key"),
    "W_v": ("feature", "value_channel", "value"),
    "W_o": ("all_output_channel", "feature", "output"),
}
"""Rows, columns and colour of the weight matrices that most variants have."""

_OF_ALL_HEADS = {"W_q": "all_channel", "W_k": "all_kv_channel", "W_v": "all_value_channel"}


def title(name: str, variant: str = "", **words: object) -> str:
    """What a step or a weight is called; one without a title of its own by its name in words."""
    titles = TITLES | OWN_TITLES.get(variant, {})
    return titles.get(name, _in_words(name)).format(**words)


def along(axis: str) -> tuple[str, str]:
    """What runs along an axis of numbered places, and the letter for how many there are."""
    return CHANNELS.get(axis, (axis.replace("_", " "), axis))


def sides_of_weight(
    name: str, shape: tuple[int, int], sizes: Mapping[str, int]
) -> tuple[str, str, Accent]:
    """Axes of a weight drawn as a matrix, and its colour; of an unknown one as its sizes tell."""
    if name in MATRICES:
        rows, cols, accent = MATRICES[name]
        return rows, _OF_ALL_HEADS.get(name, cols) if "n_heads" in sizes else cols, accent
    words = {sizes["d_model"]: "feature"} | (
        {sizes["n_heads"]: "head"} if "n_heads" in sizes else {}
    )
    rows = "alone" if shape[0] == 1 else words.get(shape[0], "row")
    return rows, words.get(shape[1], "column"), "plain"


def _in_words(name: str) -> str:
    words = name.replace("_", " ").replace("{", "").replace("}", "")
    return words[:1].upper() + words[1:]

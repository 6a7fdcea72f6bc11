"""What the parts of a capture's figure are called, and the Python that computes its maps."""

from __future__ import annotations

from typing import Any

from attnviz.figures.sinks import has_sinks

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
STATE = {
    "decay": "Kept of the state, a token",
    "strength": "Write strength",
    "state": "Norm of the state",
}
"""What the metric columns of a capture, and of its effective maps, are called on screen."""

_SOFTMAX = {
    "rows": "query: attends from",
    "cols": "key: attends to",
    "alt": "Attention",
    "what": "softmax weights",
    "sums": ", rows sum to 1",
    "file": "attention",
}
_SIGNED = {
    "rows": "token that reads the state",
    "cols": "token that wrote to it",
    "alt": "Effective maps",
    "what": "exact effective map, signed",
    "sums": "",
    "file": "effective",
}
_CROSS = _SOFTMAX | {
    "rows": "decoder (query): attends from",
    "cols": "encoder (key): attends to",
    "alt": "Cross-attention",
}
_NORMS = {
    "alt": "Value-weighted maps",
    "what": "norms of weight × value × W_O, not probabilities",
    "sums": "",
    "file": "value_weighted",
}
_SINKS = {"what": "softmax weights with the sink's"}


def words_of(capture: Any) -> dict[str, str]:
    """rows, cols, alt, what, sums (what rows add up to) and file (a file's stem) of these maps."""
    if capture.signed:
        return _SIGNED
    words = _CROSS if getattr(capture, "group", "self") == "cross" else _SOFTMAX
    if getattr(capture, "scale", "weight") == "magnitude":
        return words | _NORMS
    return words | _SINKS if has_sinks(capture) else words


def capture_code(
    model: str,
    text: str,
    *,
    signed: bool = False,
    norms: str | None = None,
    chat: bool = False,
    write: int = 0,
) -> str:
    """Python that prints the map of the true `layer` and the `head`, of this model on this text.

    signed: that of the layer's linear or state-space mixer. norms: the group of maps whose
    value-weighted map it is instead. chat: the text is a user's message. write: tokens that the
    model writes on.
    """
    of, imports = "capture.effective" if signed else "capture", ""
    if norms is not None:
        of = f"value_weighted(model, capture, {norms!r})"
        imports = "from attnviz.interventions import value_weighted\n"
    given = f'messages=[{{"role": "user", "content": {text!r}}}]' if chat else repr(text)
    more = f", generate={write}" if write else ""
    return (
        f"import attnviz as av\n{imports}\n"
        f"model = av.load_model({model!r})\n"
        f"capture = av.capture(model, {given}{more})\n"
        f"print({of}.weights(layer, head))\n"
    )

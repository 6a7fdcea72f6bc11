"""What the parts of a capture's figure are called, and the Python that computes its maps."""

from __future__ import annotations

from typing import Any

from attnviz.figures.sinks import has_sinks
from attnviz.models.choice import ModelChoice

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
_EFFECTIVE = {
    "signed": _SIGNED,
    "shares": _SIGNED | {"what": "exact effective map", "sums": ", rows sum to 1"},
    "mixing": _SIGNED | {"rows": "output of", "cols": "input from"},
    "waves": _SIGNED | {"rows": "token of the output", "cols": "token of the input"},
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
        words = _EFFECTIVE[capture.nature]
    else:
        words = _CROSS if getattr(capture, "group", "self") == "cross" else _SOFTMAX
    if getattr(capture, "scale", "weight") == "magnitude":
        words = words | _NORMS
    elif has_sinks(capture):
        words = words | _SINKS
    if getattr(capture, "unit", "token") == "word":
        words = words | {"what": f"{words['what']} by words"}
        words |= {side: in_words(words[side]) for side in ("rows", "cols")}
    if getattr(capture, "hides", False) and not getattr(capture, "renormalised", False):
        words = words | {"sums": ""}
    if hasattr(capture, "unit") and any(getattr(one, "sinks", False) for one in capture.captured):
        words = words | {"sums": "; the sinks' share is not in sight"}
    return words


def titles(capture: Any) -> dict[str, str]:
    """What the metrics are called on screen, in words where the maps are of words."""
    named = METRICS | HIDDEN | STATE
    if getattr(capture, "unit", "token") == "token":
        return named
    return {column: in_words(title) for column, title in named.items()} | STATE  # by tokens still


def in_words(title: str) -> str:
    """The name of a metric where rows and columns are words."""
    return title.replace("token", "word")


def expression(capture: Any) -> str:
    """What makes these maps of a `capture`, in Python."""
    group = getattr(capture, "group", "self")
    of = "capture.effective" if capture.signed and capture.nature != "mixing" else "capture"
    of += "" if group in ("self", "encoder") else f".of({group!r})"
    return of + getattr(capture, "code", "")


def capture_code(
    model: ModelChoice,
    text: str,
    *,
    of: str = "capture",
    norms: str | None = None,
    chat: bool = False,
    write: int = 0,
    target: str | None = None,
    picture: bool = False,
) -> str:
    """Python that prints the map of the true `layer` and the `head`, of this model on this text.

    of: what the map is of, where not of the capture itself. norms: the group of maps whose
    value-weighted map it is instead. chat: the text is a user's message. write: tokens that the
    model writes on. target: what an encoder-decoder writes, "" for its own words; None: it is
    none. picture: the model sees one, in a file.
    """
    imports = ""
    if norms is not None:
        of = f"value_weighted(model, capture, {norms!r})"
        imports = "from attnviz.interventions import value_weighted\n"
    if picture:
        imports, given = f"from PIL import Image\n{imports}", 'image=Image.open("picture.png")'
    elif target is not None:
        given = f"source={text!r}" + (f", target={target!r}" if target else "")
        given += f", max_new_tokens={write}" if write and not target else ""
    elif chat:
        given = f'messages=[{{"role": "user", "content": {text!r}}}]'
    else:
        given = repr(text)
    if write and target is None and not picture:
        given += f", generate={write}"
    return (
        f"import attnviz as av\n{imports}\n"
        f"model = {model.code}\n"
        f"capture = av.capture(model, {given})\n"
        f"print({of}.weights(layer, head))\n"
    )

"""Attention that somebody else computed (a forward pass, generate(), a file), as a capture.

What is handed over is checked before it is believed, and the first check that fails is named.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from attnviz.errors import AttnvizError
from attnviz.models.axis import Axis
from attnviz.models.captures import Capture
from attnviz.models.check import check_map, conclude
from attnviz.models.kept_map import kept, summarised
from attnviz.models.layer import Layer
from attnviz.models.mask_rule import MaskRule
from attnviz.models.pooling import stacked
from attnviz.models.tokens import visible

ROUNDING = {torch.bfloat16: 3e-2, torch.float16: 5e-3}
"""How far a row's sum may be from 1; float32 and wider: 1e-3."""


def from_attentions(
    attentions: Any,
    tokens: Sequence[str],
    key_tokens: Sequence[str] | None = None,
    name: str = "given attentions",
) -> Capture:
    """A capture of these maps, to be read and drawn like any other.

    attentions: a layer an entry, each (1, heads, queries, keys), as transformers returns them;
    or what generate() returns, steps of such layers, which are stitched into one map a layer,
    each row at its absolute position. Layers that returned None keep their numbers. tokens: the
    queries; of a generation all tokens, the last of which has no row. key_tokens: of
    cross-attention, what stands along the keys.

    Raises AttnvizError, which says which check failed, for anything that is not weights: None,
    hidden states, scores, a batch, rows that do not sum to 1.
    """
    found = {index: _map(one, index) for index, one in _layers(attentions) if one is not None}
    if not found:
        raise AttnvizError(
            "There are no attentions: expected a map for each layer, received none; load the "
            'model with attn_implementation="eager" and pass output_attentions=True.'
        )
    n_queries, n_keys = next(iter(found.values())).shape[1:]
    rows = _axis(tokens, n_queries, "queries", last=key_tokens is None)
    cols = rows if key_tokens is None else _axis(key_tokens, n_keys, "keys", last=False)
    for index, maps in found.items():
        if maps.shape[1:] != (len(rows), len(cols)):
            raise AttnvizError(
                f"Layer {index} has {maps.shape[1]} queries and {maps.shape[2]} keys; expected "
                f"{len(rows)} and {len(cols)}, a token each: give key_tokens of cross-attention."
            )
    square = key_tokens is None
    records = {
        index: kept(_layer(index, maps, square), maps, _rule(maps, square))
        for index, maps in found.items()
    }
    streamed = [summarised(record, 32) for record in records.values()]
    checks = [check_map(record) for record in records.values()]
    return Capture(
        model_name=name,
        text="".join(tokens),
        tokens=rows.labels,
        token_details=rows.details,
        token_ids=rows.ids,
        special=rows.special,
        layers=tuple(record.layer for record in records.values()),
        check=conclude(
            checks, torch.float32, logits_error=None, largest=1.0, compared="", plain=""
        ),
        notes=("These maps were handed over, not computed here.",),
        device="cpu",
        dtype="float32",
        records=dict(records),
        pooled=stacked([each.overview.numpy() for each in streamed], 4),
        numbers=stacked([each.metrics.numpy() for each in streamed], 3),
        probabilities=None,
        tokenizer=None,
        group="self" if square else "cross",
        keys=None if square else cols,
    )


def _layers(attentions: Any) -> list[tuple[int, Any]]:
    """(true index, map) of each layer; generate()'s steps of layers are stitched."""
    if attentions is None or isinstance(attentions, str):
        return []
    if not isinstance(attentions, Iterable):
        raise AttnvizError(
            "attentions is a list with a map a layer, as outputs.attentions; received "
            f"{type(attentions).__name__}."
        )
    steps = list(attentions)
    if not any(isinstance(step, (tuple, list)) for step in steps):
        return list(enumerate(steps))
    for place, step in enumerate(steps):
        if not isinstance(step, (tuple, list)):
            raise AttnvizError(
                f"Step {place} of the generation is a {type(step).__name__} and not a list of "
                "layers like the others; give all that generate() returned as attentions."
            )
    n_layers = max(len(step) for step in steps)
    if any(len(step) != n_layers for step in steps):
        raise AttnvizError("Every step of a generation has as many layers; these have not.")
    return [(layer, _stitched([step[layer] for step in steps])) for layer in range(n_layers)]


def _stitched(steps: list[Any]) -> Tensor | None:
    """(1, heads, rows, rows) from a prompt's map and a row for each further token.

    A sliding layer's cache holds the last keys only: a row ends at its own position.
    """
    if not steps or any(step is None for step in steps):
        return None
    parts = [_tensor(step) for step in steps]
    for place, part in enumerate(parts):
        if part.shape[:2] != parts[0].shape[:2]:
            raise AttnvizError(
                f"Step {place} has {part.shape[0]} examples and {part.shape[1]} heads, and step 0 "
                f"{parts[0].shape[0]} and {parts[0].shape[1]}; give the steps of one generation."
            )
    n_rows = sum(part.shape[-2] for part in parts)
    whole = parts[0].new_zeros(*parts[0].shape[:-2], n_rows, n_rows)
    at = 0
    for part in parts:
        end = at + part.shape[-2]
        n_keys = min(end, part.shape[-1])
        whole[..., at:end, end - n_keys : end] = part[..., -n_keys:]
        at = end
    return whole


def _tensor(value: Any) -> Tensor:
    try:
        maps = torch.as_tensor(value).detach().cpu()
    except (TypeError, ValueError, RuntimeError) as problem:
        raise AttnvizError(
            f"Attentions are tensors or arrays of numbers; received {type(value).__name__}."
        ) from problem
    if maps.ndim != 4:
        raise AttnvizError(
            "The attentions of a layer have four axes, (1, heads, queries, keys); received shape "
            f"{tuple(maps.shape)}. Hidden states have three: give outputs.attentions."
        )
    if maps.layout != torch.strided:
        raise AttnvizError("The attentions are sparse tensors; give dense ones: .to_dense().")
    if maps.is_complex():
        raise AttnvizError("The attentions are complex numbers; softmax weights are real ones.")
    if not all(maps.shape[1:]):
        raise AttnvizError(
            f"There is nothing in the attentions: shape {tuple(maps.shape)}; expected one head, "
            "one query and one key at least."
        )
    return maps


def _map(value: Any, index: int) -> Float[Tensor, "heads queries keys"]:
    """One layer's maps, every check passed."""
    maps = _tensor(value)
    if maps.shape[0] != 1:
        raise AttnvizError(
            f"Layer {index} holds a batch of {maps.shape[0]} examples; give one of them, as "
            "[layer[:1] for layer in attentions]."
        )
    allowed = ROUNDING.get(maps.dtype, 1e-3)
    weights = maps[0].float()
    if not bool(torch.isfinite(weights).all()):
        raise AttnvizError(f"Layer {index} holds numbers that are not finite; weights are.")
    if bool((weights < 0).any()):
        raise AttnvizError(
            f"Layer {index} holds negative numbers ({float(weights.min()):.3g} the least): these "
            "are scores or a signed map, and softmax weights are expected."
        )
    sums = weights.sum(-1)
    wrong = torch.minimum((sums - 1).abs(), sums.abs())  # an empty row sums to 0
    if float(wrong.max()) > allowed:
        head, row = divmod(int(wrong.argmax()), wrong.shape[1])
        raise AttnvizError(
            f"Row {row} of layer {index}, head {head} sums to {float(sums[head, row]):.3g} and not "
            "to 1: expected softmax weights of all keys."
        )
    return weights


def _axis(tokens: Sequence[str], length: int, what: str, *, last: bool) -> Axis:
    """These tokens along one side; last: one more is one that was written and never read."""
    words = strings(tokens)
    if len(words) not in (length, length + last):
        raise AttnvizError(
            f"There are {length} {what} and {len(words)} tokens for them; give one for each."
        )
    numbers = {word: number for number, word in enumerate(dict.fromkeys(words))}
    following = [*words[1:], None]
    labels = [visible(word) or "∅" for word in words]
    details = [
        f"position {place}" + (f", while predicting {visible(after)}" if last and after else "")
        for place, after in enumerate(following)
    ]
    return Axis(
        tuple(labels[:length]),
        tuple(details[:length]),
        tuple(numbers[word] for word in words[:length]),
        (False,) * length,
    )


def strings(tokens: Any) -> list[str]:
    """These tokens, if they are texts; equal ones are the same token to every measure."""
    if not isinstance(tokens, Iterable):
        raise AttnvizError(
            f"tokens is a list of texts, one a query; received {type(tokens).__name__}."
        )
    words = list(tokens)
    wrong = [word for word in words if not isinstance(word, str)]
    if wrong:
        raise AttnvizError(
            f"Tokens are texts; received {type(wrong[0]).__name__} among them. Give "
            "tokenizer.convert_ids_to_tokens(ids)."
        )
    return words


def _layer(index: int, maps: Tensor, square: bool) -> Layer:
    n_heads = maps.shape[0]
    return Layer(index, "full" if square else "cross", "given", n_heads, n_heads)


def _rule(maps: Tensor, square: bool) -> MaskRule:
    """Causal where nothing has weight ahead of its query."""
    return MaskRule(causal=square and maps.shape[1] > 1 and not bool(maps.triu(1).any()))

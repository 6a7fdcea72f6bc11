"""What a run is given: the tensors of one example, and what stands along each side of its maps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attnviz.errors import AttnvizError
from attnviz.models.axis import Axis, patches, places
from attnviz.models.loaded import LoadedModel
from attnviz.models.stacks import TOWERS
from attnviz.models.texts import axis_of, require_length, tokenise, without_pads

# Which side of which stack is which axis; of a model with one stack both are the only one.
SIDES = {
    "encoder": ("source", "source"),
    "decoder": ("target", "target"),
    "cross": ("target", "source"),
}


@dataclass(frozen=True)
class Prepared:
    """One example, ready to run."""

    text: str
    inputs: dict[str, Tensor]
    axes: dict[str, Axis]  # "self", or "source" and "target"
    image: np.ndarray | None = field(default=None, repr=False)

    @property
    def length(self) -> int:
        return max((len(axis) for axis in self.axes.values()), default=1)

    def sides(self, group: str, n_queries: int, n_keys: int) -> tuple[Axis, Axis]:
        """What stands along the queries and the keys of a map of this group and shape."""
        stack = group.partition(" ")[0]
        queries, keys = SIDES.get(stack, ("", "") if stack in TOWERS else ("self", "self"))
        asks = stack in ("cross", "decoder") and self.image is not None  # a detector's queries
        rows = self._side(queries, n_queries, "query" if asks else "position")
        if stack == "decoder" and "source" in self.axes and "target" in self.axes:
            both = self.axes["target"] + self.axes["source"]
            if len(both) == n_keys:  # a decoder that reads its own text and the source at once
                return rows, both
        word = "query" if asks and stack == "decoder" else "position"
        return rows, self._side(keys, n_keys, word)

    def _side(self, name: str, length: int, word: str) -> Axis:
        axis = self.axes.get(name)
        if axis is not None and len(axis) == length:
            return axis
        size = None if word == "query" or self.image is None else self.image.shape[:2]
        if size is not None and (grid := grid_of(length, *size)) is not None:
            return patches(*grid)
        others = self.axes.values() if name else ()  # a tower's are never the text's
        return next((a for a in others if len(a) == length), places(length, word))


def grid_of(length: int, height: int, width: int) -> tuple[int, int, int] | None:
    """Rows, columns and side of so many equal squares that cover a picture; None: none do."""
    for side in range(2, max(height, width) + 1):
        rows, columns = -(-height // side), -(-width // side)
        if rows * columns == length:
            return rows, columns, side
    return None


def one_text(
    model: LoadedModel, text: str | Sequence[str], example: int, limit: int | None
) -> Prepared:
    """A text, or one of several; AttnvizError for several of which none is chosen."""
    if not isinstance(text, str):
        if not isinstance(text, Sequence) or isinstance(text, bytes):
            raise AttnvizError(
                f"text is a str, or a list of them with example=; received {type(text).__name__}."
            )
        text = chosen(list(text), example)
    tokens = tokenise(model, text, limit)
    return Prepared(text, tokens.inputs, {"self": tokens.axis})


def chosen(texts: list[str], example: int) -> str:
    """The text with this number; AttnvizError for one that is not there."""
    if not texts or not 0 <= example < len(texts):
        raise AttnvizError(
            f"A batch of {len(texts)} texts is shown one at a time; example={example} is not "
            "among them: choose one from 0."
        )
    return texts[example]


def raw(model: LoadedModel, inputs: Mapping[str, Any], example: int, limit: int | None) -> Prepared:
    """One example of a batch of tensors as the model takes them, its padding trimmed."""
    if not isinstance(inputs, Mapping):
        raise AttnvizError(
            "inputs is a dict of tensors, as a tokenizer returns them; received "
            f"{type(inputs).__name__}."
        )
    tensors = {name: value for name, value in inputs.items() if isinstance(value, Tensor)}
    if not tensors:
        raise AttnvizError('inputs holds no tensors; have the tokenizer return_tensors="pt".')
    for prefix in ("", "decoder_"):
        _require_ids(model, tensors, prefix)
    size = next((len(t) for t in tensors.values() if t.ndim > 0), 0)
    if not 0 <= example < size:
        raise AttnvizError(
            f"A batch of {size} examples is shown one at a time; example={example} is not among "
            "them: choose one from 0."
        )
    one = without_pads(
        {
            name: tensor[example : example + 1].to(model.device)
            for name, tensor in tensors.items()
            if not name.startswith("decoder_")
        }
    )
    decoder = {
        name.removeprefix("decoder_"): tensor[example : example + 1].to(model.device)
        for name, tensor in tensors.items()
        if name.startswith("decoder_")
    }
    one |= {f"decoder_{name}": tensor for name, tensor in without_pads(decoder).items()}
    axes = {}
    for name, key in (
        ("source" if decoder else "self", "input_ids"),
        ("target", "decoder_input_ids"),
    ):
        if key in one:
            ids = one[key][0].tolist()
            require_length(model, len(ids), limit)
            axes[name] = _axis(model, ids)
    return Prepared("", one, axes)


def _vocabulary(model: LoadedModel) -> int:
    """How many ids the model's embedding has; 0: it does not say."""
    try:
        table = model.model.get_input_embeddings()
    except (AttributeError, NotImplementedError):  # code from elsewhere
        return 0
    return getattr(table, "num_embeddings", 0)


def _require_ids(model: LoadedModel, tensors: Mapping[str, Tensor], prefix: str) -> None:
    """AttnvizError where the ids are no batch of tokens that the model knows, or all pads."""
    name, mask = f"{prefix}input_ids", tensors.get(f"{prefix}attention_mask")
    ids = tensors.get(name)
    if ids is None:
        return
    if ids.ndim != 2 or not ids.shape[1] or ids.is_floating_point() or ids.is_complex():
        raise AttnvizError(
            f"{name} must be whole numbers, (batch, tokens), one token at least; received "
            f"{ids.dtype} of shape {tuple(ids.shape)}."
        )
    most = 0 if prefix else _vocabulary(model)  # a decoder may have another one
    least, largest = (int(edge) for edge in ids.aminmax()) if len(ids) else (0, 0)
    if least < 0 or (most and largest >= most):
        raise AttnvizError(
            f"{name} must be ids from 0 to {most - 1 if most else 'the last of the vocabulary'}; "
            f"received {least if least < 0 else largest}."
        )
    if mask is not None and mask.ndim == 2 and mask.shape != ids.shape:
        raise AttnvizError(
            f"{prefix}attention_mask must have the shape of {name}, {tuple(ids.shape)}; received "
            f"{tuple(mask.shape)}."
        )


def _axis(model: LoadedModel, ids: list[int]) -> Axis:
    return places(len(ids)) if model.tokenizer is None else axis_of(model, ids)


def pair(
    model: LoadedModel,
    source: str,
    target: str | None,
    limit: int | None,
    max_new_tokens: int,
) -> Prepared:
    """A source text and what the decoder reads: the target typed, or written by the model.

    The decoder reads its start token and then all of the target but its last token, which only
    is predicted. Hold the model's lock: a target that is not given is generated here.
    """
    tokens = tokenise(model, source, limit)
    if target is not None:
        wanted = _target(model, target, limit)
        ids = [_start(model), *wanted[:-1]]
    else:
        ids = _written(model, tokens.inputs, max_new_tokens)
    decoder = torch.tensor([ids], device=model.device)
    return Prepared(
        source,
        tokens.inputs | {"decoder_input_ids": decoder},
        {"source": tokens.axis, "target": axis_of(model, ids)},
    )


def _target(model: LoadedModel, target: str, limit: int | None) -> tuple[int, ...]:
    """The target's ids; Marian and M2M keep a second vocabulary or language for it."""
    tokenizer = model.tokenizer
    if hasattr(tokenizer, "_switch_to_target_mode"):
        tokenizer._switch_to_target_mode()
        try:
            return tokenise(model, target, limit).axis.ids
        finally:
            tokenizer._switch_to_input_mode()
    return tokenise(model, target, limit).axis.ids


def _start(model: LoadedModel) -> int:
    """The token that this model's decoder starts from."""
    generation = getattr(model.model, "generation_config", None)
    for config in (generation, model.config, getattr(model.config, "decoder", None)):
        for name in ("decoder_start_token_id", "bos_token_id", "pad_token_id"):
            token = getattr(config, name, None)
            if isinstance(token, int):
                return token
    raise AttnvizError(
        f"{model.title} does not say from which token its decoder starts; give inputs= with "
        "decoder_input_ids."
    )


def _written(model: LoadedModel, inputs: dict[str, Tensor], max_new_tokens: int) -> list[int]:
    """What the decoder reads while it writes its own, likeliest target."""
    from attnviz.models.interface import running

    plain = model.model.config._attn_implementation
    with running(model.model, plain):
        out = model.model.generate(
            **inputs,
            max_new_tokens=max_new_tokens,
            do_sample=False,
            num_beams=1,
            decoder_start_token_id=_start(model),
        )
    return out[0, :-1].tolist() or out[0].tolist()

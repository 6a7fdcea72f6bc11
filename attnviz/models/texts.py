"""A text as a model gets it, refused in words when the model or a limit forbids it."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from attnviz.errors import AttnvizError, TooLargeError
from attnviz.models.axis import Axis
from attnviz.models.loaded import LoadedModel
from attnviz.models.pieces import special_ids
from attnviz.models.slices import whole_number
from attnviz.models.tokens import screen_tokens
from attnviz.settings import settings

SOUND = ("input_values", "input_features")
"""What transformers calls a waveform, and a spectrogram."""


@dataclass(frozen=True)
class Tokens:
    """A text as the model gets it."""

    axis: Axis
    inputs: dict[str, Tensor]
    offsets: list[list[int]] | None  # where in the text each token stands; None: not known

    @property
    def ids(self) -> tuple[int, ...]:
        return self.axis.ids

    @property
    def labels(self) -> tuple[str, ...]:
        return self.axis.labels

    @property
    def details(self) -> tuple[str, ...]:
        return self.axis.details

    @property
    def special(self) -> tuple[bool, ...]:
        return self.axis.special


def tokenise(
    model: LoadedModel, text: str, max_tokens: int | None = None, **options: Any
) -> Tokens:
    """The text's tokens, pads left out; options are the tokenizer's own.

    Raises AttnvizError or TooLargeError when the model or a limit forbids the text.
    """
    _require_text(text)
    if model.tokenizer is None:
        raise AttnvizError(f"{model.title} came without a tokenizer, so it cannot read a text.")
    if getattr(model.model, "main_input_name", "") in SOUND and not _takes_ids(model.model):
        raise AttnvizError(
            f"{model.title} hears sound and reads no text; choose a model that reads text."
        )
    fast = bool(getattr(model.tokenizer, "is_fast", False))
    inputs = dict(
        model.tokenizer(
            text, return_tensors="pt", return_offsets_mapping=fast, verbose=False, **options
        )
    )
    inputs = without_pads(inputs)
    offsets = inputs.pop("offset_mapping")[0].tolist() if fast else None
    ids = inputs["input_ids"][0].tolist()
    special = special_ids(model.tokenizer) - {model.tokenizer.unk_token_id}
    if all(token in special for token in ids):
        raise AttnvizError("The text holds nothing that this model reads; type at least one word.")
    require_length(model, len(ids), max_tokens)
    return Tokens(
        axis=axis_of(model, ids, text, offsets),
        inputs={name: tensor.to(model.device) for name, tensor in inputs.items()},
        offsets=offsets,
    )


def _takes_ids(model: Any) -> bool:
    return "input_ids" in inspect.signature(model.forward).parameters


def axis_of(
    model: LoadedModel,
    ids: Sequence[int],
    text: str | None = None,
    offsets: Sequence[Sequence[int]] | None = None,
) -> Axis:
    """These token ids as the side of a map."""
    labels, details = screen_tokens(model.tokenizer, ids, text, offsets)
    special = special_ids(model.tokenizer) - {model.tokenizer.unk_token_id}
    return Axis(labels, details, tuple(ids), tuple(token in special for token in ids))


def require_length(
    model: LoadedModel, length: int, max_tokens: int | None, makes: str = "The text makes"
) -> None:
    """TooLargeError, a sentence, for more tokens than the model or the deployment takes."""
    deployment = settings().max_tokens
    if max_tokens is not None:
        deployment = whole_number("max_tokens", max_tokens, 1)
    limit = min(model.max_tokens, deployment)
    if length > limit:
        whose = f"{model.title} takes" if limit == model.max_tokens else "this installation takes"
        raise TooLargeError(f"{makes} {length:,} tokens and {whose} at most {limit:,}; shorten it.")


def without_pads(inputs: dict[str, Tensor]) -> dict[str, Tensor]:
    """One example without the positions that its attention_mask calls padding."""
    mask = inputs.get("attention_mask")
    if mask is None or mask.ndim != 2 or bool(mask.all()):
        return inputs
    kept = mask[0].bool()
    if not bool(kept.any()):
        return inputs  # nothing but pads: refused as an empty text
    return {
        name: tensor[:, kept] if tensor.ndim > 1 and tensor.shape[1] == len(kept) else tensor
        for name, tensor in inputs.items()
    }


def _require_text(text: object) -> None:
    if not isinstance(text, str):
        raise AttnvizError(f"A text is a str; received {type(text).__name__}: {text!r:.60}.")
    if not text:
        raise AttnvizError("The text is empty; type at least one word.")
    most = settings().max_characters
    if len(text) > most:
        raise TooLargeError(
            f"The text has {len(text):,} characters and at most {most:,} are taken; shorten it."
        )
    try:
        text.encode()
    except UnicodeEncodeError:
        raise AttnvizError(
            "The text holds half of a character (a lone surrogate); type it again."
        ) from None

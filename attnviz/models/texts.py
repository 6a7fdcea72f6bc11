"""A text as a model gets it, refused in words when the model or a limit forbids it."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from attnviz.errors import AttnvizError, TooLargeError
from attnviz.models.loaded import LoadedModel
from attnviz.models.pieces import special_ids
from attnviz.models.tokens import screen_tokens
from attnviz.settings import settings


@dataclass(frozen=True)
class Tokens:
    """A text as the model gets it."""

    ids: tuple[int, ...]
    inputs: dict[str, Tensor]
    labels: tuple[str, ...]
    details: tuple[str, ...]
    special: tuple[bool, ...]


def tokenise(model: LoadedModel, text: str, max_tokens: int | None = None) -> Tokens:
    """The text's tokens; AttnvizError or TooLargeError when the model or a limit forbids them."""
    if not text:
        raise AttnvizError("The text is empty; type at least one word.")
    limits = settings()
    if len(text) > limits.max_characters:
        raise TooLargeError(
            f"The text has {len(text):,} characters and at most {limits.max_characters:,} are "
            "taken; shorten it."
        )
    try:
        text.encode()
    except UnicodeEncodeError:
        raise AttnvizError(
            "The text holds half of a character (a lone surrogate); type it again."
        ) from None
    fast = bool(getattr(model.tokenizer, "is_fast", False))
    inputs = dict(
        model.tokenizer(text, return_tensors="pt", return_offsets_mapping=fast, verbose=False)
    )
    offsets = inputs.pop("offset_mapping")[0].tolist() if fast else None
    ids = tuple(inputs["input_ids"][0].tolist())
    special = special_ids(model.tokenizer) - {model.tokenizer.unk_token_id}
    if all(token in special for token in ids):
        raise AttnvizError("The text holds nothing that this model reads; type at least one word.")
    deployment = limits.max_tokens if max_tokens is None else max_tokens
    limit = min(model.max_tokens, deployment)
    if len(ids) > limit:
        whose = f"{model.title} takes" if limit == model.max_tokens else "this installation takes"
        raise TooLargeError(
            f"The text makes {len(ids):,} tokens and {whose} at most {limit:,}; shorten it."
        )
    labels, details = screen_tokens(model.tokenizer, ids, text, offsets)
    return Tokens(
        ids=ids,
        inputs={name: tensor.to(model.device) for name, tensor in inputs.items()},
        labels=labels,
        details=details,
        special=tuple(token in special for token in ids),
    )

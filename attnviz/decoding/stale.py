"""Why a cache may be reused: edit the text behind it, and see where its keys are now wrong.

With a causal mask a token's keys depend on nothing after it: an edit at position j leaves every
key before j as it was. Without the mask each layer mixes all tokens, and from the second layer
on (the first one's keys come from the embeddings alone) no cached key survives any edit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float32

from attnviz.decoding.stepping import Report, quiet, read, step, turn
from attnviz.errors import AttnvizError
from attnviz.models import LoadedModel
from attnviz.models.tokens import screen_tokens


@dataclass(frozen=True, eq=False)
class Stale:
    """How wrong the cache of the old text is for the edited one."""

    labels: tuple[str, ...]  # of the old text
    new_label: str
    position: int
    causal: bool
    errors: Float32[np.ndarray, "layers tokens"]  # of keys: |old - fresh| / |fresh|, of all heads
    kl: float  # nats: the next token, had the stale cache been used for the last token
    nbytes: int = 1

    @property
    def first_wrong(self) -> int | None:
        """The first position at which any layer's key has changed."""
        wrong = np.flatnonzero(self.errors.max(0) > 0)
        return int(wrong[0]) if len(wrong) else None


def stale(
    model: LoadedModel,
    text: str,
    position: int,
    replacement: str = " dog",
    *,
    causal: bool = True,
    progress: Report = quiet,
) -> Stale:
    """Replace the token at `position` by the first one of `replacement`, and compare both caches.

    position counts from 0; negative ones from the end. causal=False lets every token see all.
    """
    tokens = read(model, text)
    length = len(tokens.ids)
    if not -length <= position < length:
        raise AttnvizError(
            f"The text has tokens 0 to {length - 1}; there is no token {position} to edit."
        )
    place = position % length
    found = model.tokenizer(replacement, add_special_tokens=False)["input_ids"]
    if not found:
        raise AttnvizError("The replacement is empty; type a word.")
    edited = [*tokens.ids[:place], found[0], *tokens.ids[place + 1 :]]
    with turn(model, progress):
        progress(0.2, "Reading the text")
        old, _ = _keys(model, tokens.ids, causal)
        progress(0.6, "Reading the edited text")
        new, fresh = _keys(model, edited, causal)
        used = _with_stale_cache(model, tokens.ids, edited, causal)
    errors = np.stack([_relative(a, b) for a, b in zip(old, new, strict=True)])
    return Stale(
        tokens.labels,
        screen_tokens(model.tokenizer, (found[0],), replacement, None)[0][0],
        place,
        causal,
        errors,
        divergence(fresh, used),
    )


def divergence(exact: torch.Tensor, other: torch.Tensor) -> float:
    """KL(exact || other) of the next-token distributions of two rows of logits, in nats."""
    p, q = exact.double().log_softmax(-1), other.double().log_softmax(-1)
    return max(0.0, float((p.exp() * (p - q)).sum()))


def _mask(model: LoadedModel, n_queries: int, n_keys: int, causal: bool) -> dict[str, torch.Tensor]:
    """Nothing for the model's own mask; else one that hides nothing."""
    if causal:
        return {}
    everything = torch.ones(1, 1, n_queries, n_keys, dtype=torch.bool, device=model.device)
    return {"attention_mask": everything}


def _keys(
    model: LoadedModel, ids: Sequence[int], causal: bool
) -> tuple[list[torch.Tensor], torch.Tensor]:
    """Each layer's cached keys, (G, T, d), and the last token's logits."""
    logits, cache = step(model, ids, **_mask(model, len(ids), len(ids), causal))
    return [layer.keys[0].float().cpu() for layer in cache.layers], logits[-1]


def _with_stale_cache(
    model: LoadedModel, old: Sequence[int], new: Sequence[int], causal: bool
) -> torch.Tensor:
    """Logits of the new text's last token, read with the cache of the old text before it."""
    if len(old) == 1:
        return step(model, new)[0][-1]
    before = len(old) - 1
    _, cache = step(model, old[:-1], **_mask(model, before, before, causal))
    return step(model, new[-1:], cache, **_mask(model, 1, len(old), causal))[0][-1]


def _relative(old: torch.Tensor, new: torch.Tensor) -> Float32[np.ndarray, " tokens"]:
    size = new.norm(dim=(0, 2)).clamp_min(1e-30)
    return ((old - new).norm(dim=(0, 2)) / size).numpy()

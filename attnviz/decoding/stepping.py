"""A model read token by token, with its cache."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from attnviz.errors import AttnvizError, TooLargeError
from attnviz.models import LoadedModel
from attnviz.models.interface import Listener, listening, running
from attnviz.models.texts import Tokens, tokenise

LONGEST = 256
"""Tokens in all: every map is kept, and a step without a cache reads everything again."""


Report = Callable[..., None]
"""(fraction, words), and where something can be shown already, that too."""


def quiet(fraction: float, words: str, so_far: Any = None) -> None:
    """Where nobody waits."""


@contextmanager
def turn(model: LoadedModel, report: Report, listener: Listener | None = None) -> Iterator[None]:
    """The model's lock and an SDPA run of it, told to the listener if there is one."""
    if model.kind != "decoder":
        raise AttnvizError(
            f"{model.title} reads its whole input at once and writes nothing; choose a decoder."
        )
    while not model.lock.acquire(timeout=0.2):
        report(0.0, "Waiting: the model is busy with another text")
    try:
        with running(model.model, "sdpa") if listener is None else listening(model.model, listener):
            yield
    finally:
        model.lock.release()


def read(model: LoadedModel, text: str, new_tokens: int = 0) -> Tokens:
    """The text's tokens, refused where they and what is written would be too many."""
    tokens = tokenise(model, text, LONGEST)
    if len(tokens.ids) + new_tokens > LONGEST:
        raise TooLargeError(
            f"The text makes {len(tokens.ids)} tokens, and with {new_tokens} more that is beyond "
            f"the {LONGEST} that are followed step by step; shorten it or write fewer."
        )
    return tokens


def batch_of(model: LoadedModel, ids: Sequence[int]) -> Tensor:
    """(1, T) on the model's device."""
    return torch.tensor([list(ids)], device=model.device)


def step(
    model: LoadedModel, ids: Sequence[int], cache: Any = None, **options: Any
) -> tuple[Float[Tensor, "tokens vocabulary"], Any]:
    """Logits of these tokens, float32 on the CPU, and the cache that now holds them too."""
    if cache is not None:
        options["cache"] = cache
    out = model.model(batch_of(model, ids), use_cache=True, **options)
    return out.logits[0].float().cpu(), out.cache


def plain(
    model: LoadedModel, ids: Sequence[int], **options: Any
) -> Float[Tensor, "tokens vocabulary"]:
    """Logits of all tokens in one pass, nothing kept."""
    out = model.model(batch_of(model, ids), use_cache=False, **options)
    return out.logits[0].float().cpu()


def clock(model: LoadedModel) -> float:
    """Seconds, once all work on the model's device is done."""
    if model.device.type == "cuda":
        torch.cuda.synchronize(model.device)
    return time.perf_counter()

"""The same text written twice: with the cache, and reading everything again at each token."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from jaxtyping import Float32

from attnviz.decoding.rows import Rows, Stitched
from attnviz.decoding.stepping import Report, clock, plain, quiet, read, step, turn
from attnviz.kv_cache import measure
from attnviz.kv_cache.checks import whole
from attnviz.models import LoadedModel
from attnviz.models.tokens import screen_tokens


@dataclass(frozen=True)
class Step:
    """One token written. Seconds are measured here and now."""

    token: int
    label: str
    seconds: float  # with the cache; of the first step: the prompt (prefill)
    seconds_without: float  # reading everything again
    same_token: bool
    error: float  # the largest difference between the two ways' logits
    cache_bytes: int  # after the step, from the cache's tensors
    held_bytes: int


@dataclass(frozen=True, eq=False)
class Generation:
    """What was written, step by step; the map of all that was read, stitched from the steps."""

    prompt: tuple[str, ...]  # tokens on screen
    ids: tuple[int, ...]  # the prompt's and those written
    steps: tuple[Step, ...]
    kv_heads: int
    text: str  # the prompt and what was written
    maps: Float32[np.ndarray, "layers heads queries keys"] = field(repr=False)

    @property
    def labels(self) -> tuple[str, ...]:
        """The tokens that were read: the last one written was not."""
        return (*self.prompt, *(step.label for step in self.steps[:-1]))

    @property
    def error(self) -> float:
        return max(step.error for step in self.steps)

    @property
    def nbytes(self) -> int:
        return int(self.maps.nbytes)


def generate(
    model: LoadedModel, text: str, new_tokens: int = 24, *, progress: Report = quiet
) -> Generation:
    """Write new_tokens greedily, each with the cache and without.

    progress(fraction, words, so_far) also gets the Generation as far as it is. Raises
    AttnvizError for an encoder, a text too long, or a model whose attention cannot be followed.
    """
    count = whole("new_tokens", new_tokens)
    tokens = read(model, text, count)
    ids, rows, stitched = list(tokens.ids), Rows(), Stitched(len(tokens.ids) + count)
    no_map = np.zeros((0, 0, 0, 0), np.float32)
    so_far = Generation(tokens.labels, tokens.ids, (), model.n_kv_heads, text, no_map)
    cache, fed = None, list(tokens.ids)
    for number in range(1, count + 1):
        with turn(model, progress, rows):
            begin = clock(model)
            logits, cache = step(model, fed, cache)
            seconds = clock(model) - begin
        stitched.add(rows.take())
        with turn(model, progress):
            begin = clock(model)
            again = plain(model, ids)
            without = clock(model) - begin
        token = int(logits[-1].argmax())
        held = measure(cache)
        written = Step(
            token,
            _label(model, token),
            seconds,
            without,
            token == int(again[-1].argmax()),
            float((logits[-1] - again[-1]).abs().max()),
            held.nominal_bytes,
            held.held_bytes,
        )
        ids.append(token)
        fed = [token]
        so_far = replace(
            so_far,
            ids=tuple(ids),
            text=_text(model, text, ids[len(tokens.ids) :]),
            steps=(*so_far.steps, written),
            maps=stitched.maps,
        )
        progress(number / count, f"Token {number} of {count}", so_far)
    return so_far


def _text(model: LoadedModel, prompt: str, written: Sequence[int]) -> str:
    return prompt + model.tokenizer.decode(written, clean_up_tokenization_spaces=False)


def _label(model: LoadedModel, token: int) -> str:
    return screen_tokens(model.tokenizer, (token,), "", None)[0][0]


@dataclass(frozen=True)
class Passes:
    """One pass over a text, as in training, beside token by token with a cache, as in decoding."""

    labels: tuple[str, ...]
    errors: tuple[float, ...]  # of each position's logits, the largest difference
    same: bool  # the most probable next token is the same everywhere
    parallel_seconds: float
    step_seconds: tuple[float, ...]


def two_passes(model: LoadedModel, text: str, *, progress: Report = quiet) -> Passes:
    """Both ways over the same text; the same logits at every position, up to rounding."""
    tokens = read(model, text)
    with turn(model, progress):
        plain(model, tokens.ids)  # warms up
        begin = clock(model)
        at_once = plain(model, tokens.ids)
        parallel = clock(model) - begin
        cache, errors, seconds, same = None, [], [], True
        for place, token in enumerate(tokens.ids):
            begin = clock(model)
            logits, cache = step(model, [token], cache)
            seconds.append(clock(model) - begin)
            errors.append(float((logits[0] - at_once[place]).abs().max()))
            same = same and int(logits[0].argmax()) == int(at_once[place].argmax())
            progress((place + 1) / len(tokens.ids), f"Token {place + 1} of {len(tokens.ids)}")
    return Passes(tokens.labels, tuple(errors), same, parallel, tuple(seconds))


def rows_of_one_pass(
    model: LoadedModel, ids: Sequence[int]
) -> Float32[np.ndarray, "layers heads queries keys"]:
    """Every map from a single forward pass over all tokens: what stitched ones must equal."""
    rows, whole_text = Rows(), Stitched(len(ids))
    with turn(model, quiet, rows):
        plain(model, ids)
    whole_text.add(rows.take())
    return whole_text.maps

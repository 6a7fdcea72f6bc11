"""The inverse question: what fits in a given memory, beside the weights.

Exact to the token and the byte. Size is not linear in the length (windows fill up, states are
fixed, sub-byte tensors are rounded), but it never falls, so a search on the sizes themselves is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from attnviz.errors import AttnvizError
from attnviz.kv_cache.checks import LARGEST, whole
from attnviz.kv_cache.sizes import Size, size
from attnviz.kv_cache.spec import CacheSpec

GIB = 2**30


@dataclass(frozen=True)
class Room:
    """How many fit. count is None where there is no limit: one more takes no more memory."""

    count: int | None
    free_bytes: int  # what the weights leave
    used_bytes: int  # by the cache at that count
    reason: str  # one sentence


def gib(amount: int | float | str) -> int:
    """GiB to whole bytes, rounded down; exact for decimal text such as "23.6"."""
    try:
        exact = Fraction(str(amount))
    except (ValueError, ZeroDivisionError):
        raise AttnvizError(f"Memory must be a number of GiB, not {amount!r}.") from None
    if not 0 <= exact <= LARGEST // GIB:
        raise AttnvizError(
            f"Memory must be from 0 to {LARGEST // GIB:,} GiB, not {float(exact):,.4g}."
        )
    return int(exact * GIB)


def longest_context(
    spec: CacheSpec, memory_bytes: int, *, weights_bytes: int = 0, batch: int = 1, **options
) -> Room:
    """The longest context of which `batch` sequences fit in memory_bytes beside the weights.

    options are those of size: dtype, state_dtype, encoder_length.

    >>> import attnviz as av
    >>> kv = av.kv_cache
    >>> kv.longest_context(kv.preset("llama-3.1-8b"), kv.gib(24), weights_bytes=kv.gib(15)).count
    73728
    """
    free = _free(memory_bytes, weights_bytes)
    if free is None:
        return _no_room(memory_bytes, weights_bytes)

    def at(length: int) -> Size:
        return size(spec, length, batch, **options)

    start = at(0)
    if start.total_bytes > free:
        return Room(
            0,
            free,
            0,
            f"The fixed part alone takes {start.total_bytes:,} bytes; {free:,} are free.",
        )
    reach = options.get("max_batched_tokens", 8192)  # an engine's windows grow by that much more
    settled = at(reach + max((getattr(layer, "window", 0) for layer, _count in spec.groups)))
    guess = 0
    if settled.total_bytes <= free:
        if not settled.bytes_per_token:
            return Room(
                None,
                free,
                settled.total_bytes,
                f"No limit: the cache stops growing at {settled.total_bytes:,} bytes.",
            )
        each = batch * settled.bytes_per_token  # beyond every window growth is steady
        guess = settled.length + int((free - settled.total_bytes) // each)
    count = _last(lambda length: at(length).total_bytes <= free, guess)
    return Room(count, free, at(count).total_bytes, "One more token would not fit.")


def most_sequences(
    spec: CacheSpec, memory_bytes: int, *, length: int, weights_bytes: int = 0, **options
) -> Room:
    """How many sequences of `length` tokens fit in memory_bytes beside the weights."""
    free = _free(memory_bytes, weights_bytes)
    if free is None:
        return _no_room(memory_bytes, weights_bytes)
    each = size(spec, length, **options).sequence_bytes
    if not each:
        return Room(None, free, 0, "No limit: a sequence keeps nothing.")
    count = free // each
    return Room(count, free, count * each, f"Each sequence takes {each:,} bytes.")


def _free(memory_bytes: int, weights_bytes: int) -> int | None:
    free = whole("memory_bytes", memory_bytes, 0) - whole("weights_bytes", weights_bytes, 0)
    return free if free >= 0 else None


def _no_room(memory_bytes: int, weights_bytes: int) -> Room:
    return Room(
        0,
        0,
        0,
        f"The weights take {weights_bytes:,} bytes, more than the memory of {memory_bytes:,}.",
    )


def _last(fits: Callable[[int], bool], guess: int) -> int:
    """The largest n with fits(n), given fits(0) and that it fails from some n on.

    Strides that double, from the guess, find a bracket; halving it finds n.
    """
    stride = 1
    if fits(guess):
        low = guess
        while fits(low + stride):
            low, stride = low + stride, 2 * stride
        high = low + stride
    else:
        high = guess
        while high > stride and not fits(high - stride):
            high, stride = high - stride, 2 * stride
        low = max(high - stride, 0)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low

"""The speed of light for decoding: a bound from the bytes that each step must read.

Every step reads the weights once, for the whole batch, and the cache of every sequence. A memory
that delivers `bandwidth` bytes a second allows no more steps than bandwidth over these bytes,
and a chip of `flops` no more than flops over 2 operations a parameter and sequence (Pope et al.
2022, section 2). Not counted, so that the truth is slower: activations, kernel launches, the
attention's own arithmetic, communication between chips, and what is read twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from attnviz.errors import AttnvizError
from attnviz.kv_cache.checks import whole


@dataclass(frozen=True)
class Bound:
    """No decoder on this memory is faster."""

    bytes_per_step: int
    memory_seconds: float  # at least, a step
    compute_seconds: float  # at least, a step
    tokens_per_second: float  # at most, all sequences together
    compute_from_batch: int | None  # sequences from which arithmetic takes longer; None: never

    @property
    def limited_by(self) -> str:
        return "compute" if self.compute_seconds > self.memory_seconds else "memory"


def decoding_bound(
    *,
    weights_bytes: int,
    cache_bytes_per_sequence: int,
    batch: int,
    bandwidth: int,
    flops: int,
    parameters: int,
) -> Bound:
    """The bound for one step that writes a token of each of `batch` sequences.

    weights_bytes and parameters: those that a token uses (the active ones of a mixture of
    experts, at batch 1). bandwidth in bytes a second, flops in operations a second.

    >>> decoding_bound(weights_bytes=14 * 10**9, cache_bytes_per_sequence=10**9, batch=1,
    ...     bandwidth=3 * 10**12, flops=10**15, parameters=7 * 10**9).tokens_per_second
    200.0
    """
    read = whole("weights_bytes", weights_bytes, 0)
    each = whole("cache_bytes_per_sequence", cache_bytes_per_sequence, 0)
    sequences = whole("batch", batch)
    speed, peak = whole("bandwidth", bandwidth), whole("flops", flops)
    work = 2 * whole("parameters", parameters, 0)
    total = read + sequences * each
    if not total:
        raise AttnvizError("A step that reads no bytes has no bound; give the weights' bytes.")
    memory, compute = Fraction(total, speed), Fraction(work * sequences, peak)
    # work b / peak > (read + b each) / speed, the smallest whole b
    slope = Fraction(work, peak) - Fraction(each, speed)
    batch_from = int(Fraction(read, speed) / slope) + 1 if slope > 0 else None
    return Bound(
        total,
        float(memory),
        float(compute),
        float(sequences / max(memory, compute)),
        batch_from,
    )

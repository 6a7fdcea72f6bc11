"""Timing of decoding steps as a job for the board."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from attnviz.hybrid.patterns import Pattern

LENGTHS = (256, 1024, 4096, 16_384, 65_536)


@dataclass(frozen=True)
class StepTimes:
    """How long one decoding step takes in each kind of layer, after prefixes of several lengths."""

    linear: str
    full: str
    d_model: int = 256
    n_heads: int = 4
    n_kv_heads: int = 2
    lengths: tuple[int, ...] = LENGTHS
    layers: int = 4  # of the same kind timed together: one alone is over before the clock ticks

    def run(self, progress: Callable[[float, str], None]) -> tuple[dict[str, object], ...]:
        """Rows of mixer, length, milliseconds a layer and bytes a layer, measured here and now."""
        from attnviz.hybrid.decoding import step_seconds

        rows: list[dict[str, object]] = []
        kinds = (("L", self.linear), ("F", self.full))
        for turn, (letter, mixer) in enumerate(kinds):
            pattern = Pattern(letter * self.layers, self.linear, self.full)
            timed = step_seconds(
                pattern,
                self.d_model,
                self.lengths,
                n_heads=self.n_heads,
                n_kv_heads=self.n_kv_heads,
            )
            for place, (length, seconds, kept) in enumerate(timed, 1):
                done = (turn + place / len(self.lengths)) / len(kinds)
                progress(done, f"{mixer}: a step after {length:,} tokens")
                rows.append(
                    {
                        "mixer": mixer,
                        "length": length,
                        "milliseconds": 1e3 * seconds / self.layers,
                        "bytes": kept // self.layers,
                    }
                )
        return tuple(rows)

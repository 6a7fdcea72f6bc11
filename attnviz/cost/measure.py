"""Time and peak memory against length, measured here and now: a job for the board."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from attnviz.errors import AttnvizError

if TYPE_CHECKING:
    import pandas as pd

    from attnviz.cost.forms import Form

LENGTHS = (256, 512, 1024, 2048, 4096, 8192, 16384)
MOST_HEADS = 16
FITTED_FROM = 1024
"""Tokens: below, the time is mostly that of calling operations, not of what they do."""
FITTED = {"time": "seconds", "cpu": "cpu_seconds", "memory": "bytes"}
FEWEST = 3
"""Points that a line is fitted through, where there are as many."""
ENOUGH = 1.0
"""Seconds spent on repeating one measurement, once it has been taken twice."""
MOST_REPEATS = 60


@dataclass(frozen=True)
class CostJob:
    """Measure these forms (words of forms()) at these lengths, with heads of 64 channels."""

    forms: tuple[str, ...]
    lengths: tuple[int, ...] = (1024, 2048, 4096, 8192)
    n_heads: int = 1
    seed: int = 0
    device: str | None = None  # None: the deployment's
    kernel: str = "sdpa"  # of the fused forms: one of SDPA's by name, else PyTorch chooses

    def run(self, progress: Callable[[float, str], None]) -> pd.DataFrame:
        """A row a form and length, in float32.

        Columns: form, title, length, n_heads, seconds and cpu_seconds (the least of the repeats: by
        the clock, and of all threads of this process), repeats, bytes (peak, inputs not counted),
        device. Raises AttnvizError for what is not on offer, and
        TooLargeError before anything is computed if the longest would not fit.
        """
        self._check()
        progress(0.0, "Loading the libraries (once)")
        import pandas as pd
        import torch

        from attnviz.cost.forms import find
        from attnviz.cost.peak import peak_bytes
        from attnviz.device import describe, device
        from attnviz.variants.kernels import computing_with

        chosen, place = [find(word) for word in self.forms], device(self.device)
        self._require_room()
        self._require_kernel()
        points = [(form, length) for form in chosen for length in self.lengths]
        rows: list[dict[str, Any]] = []
        for done, (form, length) in enumerate(points):
            told = partial(progress, done / len(points), f"{form.title}: {length:,} tokens")
            told()
            with torch.inference_mode(), computing_with(self.kernel):
                compute = form.prepare(length, self.n_heads, self.seed, place)
                seconds, cpu_seconds, repeats = _least(compute, place, told)
                peak = peak_bytes(compute, place)
            rows.append(
                {
                    "form": form.word,
                    "title": self._title(form),
                    "length": length,
                    "n_heads": self.n_heads,
                    "seconds": seconds,
                    "cpu_seconds": cpu_seconds,
                    "repeats": repeats,
                    "bytes": peak,
                    "device": describe(place),
                }
            )
        return pd.DataFrame(rows)

    def _check(self) -> None:
        if not self.forms:
            raise AttnvizError("No form is chosen; choose at least one.")
        unknown = [length for length in self.lengths if length not in LENGTHS]
        if unknown or len(self.lengths) < 2:
            raise AttnvizError(
                f"At least two lengths of {', '.join(map(str, LENGTHS))} are measured; received "
                f"{', '.join(map(str, self.lengths)) or 'none'}."
            )
        if not 1 <= self.n_heads <= MOST_HEADS:
            raise AttnvizError(f"n_heads must be from 1 to {MOST_HEADS}; received {self.n_heads}.")

    def _require_room(self) -> None:
        from attnviz.cost.forms import find
        from attnviz.device import device
        from attnviz.models.memory import require

        longest = max(self.lengths)
        for form in map(find, self.forms):
            require(
                form.estimate(longest, self.n_heads),
                f"{form.title}, at {longest:,} tokens and {self.n_heads} "
                f"{'head' if self.n_heads == 1 else 'heads'},",
                "choose shorter lengths or fewer heads, or leave this form out",
                device(self.device),
            )

    def _require_kernel(self) -> None:
        """Raise AttnvizError, saying why, where a fused form cannot run with the kernel."""
        import torch

        from attnviz import variants
        from attnviz.cost.forms import HEAD_DIM
        from attnviz.device import device
        from attnviz.variants import kernels

        if self.kernel in kernels.BACKENDS and any(word.endswith("/sdpa") for word in self.forms):
            variant, place = variants.find("multi_head"), device(self.device)
            sizes = (HEAD_DIM, HEAD_DIM)
            kernels.require(self.kernel, variant, place, torch.float32, sizes, masked=False)

    def _title(self, form: Form) -> str:
        from attnviz.variants.kernels import BACKENDS

        named = form.kernel == "sdpa" and self.kernel in BACKENDS
        return f"{form.title} ({self.kernel})" if named else form.title


def _least(
    compute: Callable[[], Any], place: Any, between: Callable[[], None]
) -> tuple[float, float, int]:
    """The least times of several runs, after one that warms up, and how many there were.

    Other work on the machine only ever adds to a time.
    """
    import torch

    def wait() -> None:
        if place.type == "cuda":
            torch.cuda.synchronize(place)
        elif place.type == "mps":
            torch.mps.synchronize()

    compute()
    wait()
    taken: list[float] = []
    worked: list[float] = []
    while len(taken) < 2 or (len(taken) < MOST_REPEATS and sum(taken) < ENOUGH):
        between()  # raises where the measurement was stopped
        begun, working = time.perf_counter(), time.process_time()
        compute()
        wait()
        taken.append(time.perf_counter() - begun)
        worked.append(time.process_time() - working)
    return min(taken), min(worked), len(taken)


def fits(table: pd.DataFrame) -> pd.DataFrame:
    """The exponents of power laws through each form's points from FITTED_FROM tokens on.

    Columns: form, title, time (of seconds ~ length^time), cpu, memory. Least squares in the
    logarithms; the last FEWEST points where fewer are that long.
    """
    import numpy as np
    import pandas as pd

    rows = []
    for form, points in table.groupby("form", sort=False):
        title = points["title"].iloc[0]
        long = points.loc[points["length"] >= FITTED_FROM]
        points = long if len(long) >= FEWEST else points.iloc[-FEWEST:]
        lengths = np.log(points["length"].to_numpy(float))
        slope = {
            word: float(np.polyfit(lengths, np.log(points[column].to_numpy(float)), 1)[0])
            for word, column in FITTED.items()
        }
        rows.append({"form": form, "title": title, **slope})
    return pd.DataFrame(rows)

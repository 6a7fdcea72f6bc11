"""Error of recall against the number of keys, for several seeds: a job for the board."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from attnviz.errors import AttnvizError

if TYPE_CHECKING:
    import pandas as pd
    from torch import Tensor

SHARES = {"distinct": (1 / 8, 1 / 4, 1 / 2, 1, 2, 4), "overwritten": (1 / 8, 1 / 4, 1 / 2, 1)}
"""Numbers of keys, in units of d."""
MOST = {"d": 256, "seeds": 50, "writes": 16}


@dataclass(frozen=True)
class RecallJob:
    """Store random unit keys with random values, then ask for every key once.

    d is the length of keys and values, so a state has d x d numbers. In "distinct" each key is
    written once; in "overwritten" `writes` times, a round of all keys after the other, each time
    with a new value, and the latest one is wanted.
    """

    d: int = 64
    seeds: int = 5
    writes: int = 4
    logit_scale: float = 32.0
    decay: float = 0.95
    first_seed: int = 0

    def run(self, progress: Callable[[float, str], None]) -> pd.DataFrame:
        """A row for each task, mechanism, number of keys and seed, with its relative error.

        Columns: task, mechanism, title, settings, d, keys, writes (a key), seed, error. The error
        is the root mean square of the difference over that of the values wanted: 0 is perfect, 1
        as good as answering 0. Raises AttnvizError for numbers out of range.
        """
        self._check()
        import pandas as pd

        from attnviz.recall.mechanisms import mechanisms

        known = mechanisms(self.d, self.logit_scale, self.decay)
        points = [
            (task, max(1, round(share * self.d)))
            for task, shares in SHARES.items()
            for share in shares
        ]
        rows: list[dict[str, Any]] = []
        for done, (task, n) in enumerate(points):
            for seed in range(self.first_seed, self.first_seed + self.seeds):
                progress(done / len(points), f"{n} {task} keys, seed {seed}")
                writes = self.writes if task == "overwritten" else 1
                keys, values, wanted = self._pairs(n, writes, seed)
                for one in known:
                    answer = one.answer(keys.repeat(writes, 1), values, keys)
                    rows.append(
                        {
                            "task": task,
                            "mechanism": one.word,
                            "title": one.title,
                            "settings": one.settings,
                            "d": self.d,
                            "keys": n,
                            "writes": writes,
                            "seed": seed,
                            "error": float((answer - wanted).norm() / wanted.norm()),
                        }
                    )
        return pd.DataFrame(rows)

    def _pairs(self, n: int, writes: int, seed: int) -> tuple[Tensor, Tensor, Tensor]:
        """Unit keys (n, d), values (n writes, d) in the order of writing, the last round's."""
        from torch.nn.functional import normalize

        from attnviz import seeded

        keys = normalize(seeded.normal((n, self.d), seed, "recall keys"), dim=-1)
        values = seeded.normal((n * writes, self.d), seed, "recall values")
        return keys, values, values[-n:]

    def _check(self) -> None:
        for word, most in MOST.items():
            value = getattr(self, word)
            if not 1 <= value <= most:
                raise AttnvizError(f"{word} must be from 1 to {most}; received {value}.")
        if not 0 < self.decay <= 1:
            raise AttnvizError(f"decay must be above 0 and at most 1; received {self.decay}.")
        if not self.logit_scale > 0:
            raise AttnvizError(f"logit_scale must be above 0; received {self.logit_scale}.")

"""The trained stacks that come with attnviz, and how often they are right: a job for the board."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attnviz.errors import AttnvizError

if TYPE_CHECKING:
    import pandas as pd
    from torch import Tensor

    from attnviz.recall.stacks import Stack

ASSETS = Path(__file__).parents[2] / "assets" / "recall"
WEIGHTS, RECORD = ASSETS / "stacks.safetensors", ASSETS / "stacks.json"
HELD_OUT_SEED = 1_000_000
"""Sequences to judge by are drawn from here on; training's own seeds are small numbers."""
MOST_SEQUENCES = 2000


@dataclass(frozen=True)
class TrainedRecall:
    """Ask every shipped stack for all pairs of fresh sequences that none was trained on."""

    sequences: int = 200
    seed: int = 0

    def run(self, progress: Callable[[float, str], None]) -> pd.DataFrame:
        """A row for each stack and training seed: how often it is right, and what it keeps.

        Columns: stack, layers (L linear, F full), full (how many), seed, accuracy (0 to 1, over
        sequences x pairs), fixed_bytes (states), bytes (states and caches at the last token, one
        sequence, float32). Raises AttnvizError for numbers out of range.
        """
        import pandas as pd

        from attnviz.kv_cache import size
        from attnviz.recall.stacks import STACKS

        if not 1 <= self.sequences <= MOST_SEQUENCES:
            raise AttnvizError(
                f"sequences must be from 1 to {MOST_SEQUENCES}; received {self.sequences}."
            )
        tokens, wanted = held_out(self.sequences, self.seed)
        known = [
            (word, row["seed"])
            for word in STACKS
            for row in record()["accuracy"]
            if row["stack"] == word
        ]
        rows: list[dict[str, Any]] = []
        for done, (word, seed) in enumerate(known):
            progress(done / len(known), f"{word}, training seed {seed}")
            stack = load(word, seed)
            kept = size(stack.cache, tokens.shape[1], dtype="float32")
            letters = stack.pattern.letters
            rows.append(
                {
                    "stack": word,
                    "layers": letters,
                    "full": letters.count("F"),
                    "seed": seed,
                    "accuracy": accuracy(stack, tokens, wanted),
                    "fixed_bytes": kept.fixed_bytes,
                    "bytes": kept.total_bytes,
                }
            )
        return pd.DataFrame(rows)


def held_out(sequences: int = 500, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Sequences and the values wanted, drawn apart from those of any training."""
    import torch

    from attnviz.recall.pairs import draw

    return draw(sequences, torch.Generator().manual_seed(HELD_OUT_SEED + seed))


def accuracy(stack: Stack, tokens: Tensor, wanted: Tensor) -> float:
    """The share of queries whose most probable value is the right one."""
    import torch

    with torch.no_grad():
        guessed = stack(tokens, wanted.shape[1]).argmax(dim=-1)
    return float((guessed == wanted).double().mean())


@cache
def load(word: str, seed: int) -> Stack:
    """A trained stack, by its name in STACKS and its training seed."""
    from safetensors import safe_open

    from attnviz.recall.stacks import STACKS, Stack

    stack = Stack(STACKS[word], seed)
    start = f"{word}/{seed}/"
    with safe_open(WEIGHTS, framework="pt") as file:
        names = [name for name in file.keys() if name.startswith(start)]  # noqa: SIM118
        stack.load_state_dict({name.removeprefix(start): file.get_tensor(name) for name in names})
    return stack.requires_grad_(False)


def record() -> dict[str, Any]:
    """Script, date, versions, settings and accuracies, as written after training."""
    return json.loads(RECORD.read_text())

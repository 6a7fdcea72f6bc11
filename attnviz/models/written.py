"""A short generation kept in a file: the tokens a model wrote, and one head's row for each."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path

import numpy as np
from jaxtyping import Float32

from attnviz.errors import AttnvizError

FOLDER = Path(__file__).parents[2] / "assets" / "generations"


@dataclass(frozen=True, eq=False)
class Written:
    """A prompt that a model went on with, greedily, and the rows that one head computed for it.

    The rows of the prompt were computed together, those of each written token when it was fed
    back, from the keys that the cache held by then.
    """

    model_name: str
    title: str
    tokens: tuple[str, ...]
    token_details: tuple[str, ...]
    token_ids: tuple[int, ...]
    n_prompt: int
    layer: int
    head: int
    versions: dict[str, str]  # of the libraries it was recorded with
    weights: Float32[np.ndarray, "queries keys"] = field(repr=False)  # 0 after the query

    @property
    def caption(self) -> str:
        """One line that says what this is and that it is a recording."""
        made = ", ".join(f"{name} {version}" for name, version in self.versions.items())
        n_written = len(self.tokens) - self.n_prompt
        return (
            f"Recorded, not computed now: {self.title} continues {self.n_prompt} tokens by "
            f"{n_written}, always taking the likeliest ({made}); a test computes it again."
        )


@lru_cache(maxsize=4)
def load(name: str) -> Written:
    """The generation of that name in assets/generations; needs numpy only."""
    path = FOLDER / f"{name}.npz"
    if not path.is_file():
        raise AttnvizError(
            f"There is no generation {name!r}; make it with: python scripts/record_generation.py"
        )
    with np.load(path, allow_pickle=False) as file:
        about, weights = json.loads(str(file["about"])), file["weights"]
    weights.flags.writeable = False  # it is shared between visitors
    lists = {name: tuple(value) for name, value in about.items() if isinstance(value, list)}
    return Written(**{**about, **lists}, weights=weights)


def save(name: str, written: Written) -> Path:
    """Keep it in assets/generations under that name."""
    about = asdict(written)
    weights = about.pop("weights")
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / f"{name}.npz"
    text = np.array(json.dumps(about, ensure_ascii=False))
    np.savez_compressed(path, about=text, weights=weights)
    load.cache_clear()
    return path

"""A small capture kept in a file, so that a page can draw a real map before torch is there."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Bool, Float32

from attnviz.errors import AttnvizError
from attnviz.models.layer import Layer

FOLDER = Path(__file__).parents[2] / "assets" / "captures"
SENTENCE = "The cat sat on the mat because it was tired."


@dataclass(frozen=True, eq=False)
class Recording:
    """Reads like a Capture, for every head's whole map is in it."""

    model_name: str
    title: str
    text: str
    tokens: tuple[str, ...]
    token_details: tuple[str, ...]
    token_ids: tuple[int, ...]
    special: tuple[bool, ...]
    layers: tuple[Layer, ...]
    versions: dict[str, str]  # of the libraries it was recorded with
    check: str  # the run's own verdict on itself
    metric_names: tuple[str, ...]
    maps: Float32[np.ndarray, "layers heads queries keys"] = field(repr=False)
    mask: Bool[np.ndarray, "layers queries keys"] = field(repr=False)  # True: blocked
    numbers: Float32[np.ndarray, "layers heads metrics"] = field(repr=False)

    @property
    def n_tokens(self) -> int:
        return len(self.tokens)

    @property
    def n_keys(self) -> int:
        return self.n_tokens

    @property
    def captured(self) -> tuple[Layer, ...]:
        """All its layers: only those with maps are recorded."""
        return self.layers

    @property
    def signed(self) -> bool:
        """These are softmax weights."""
        return False

    @property
    def caption(self) -> str:
        """One line that says what this is and that it is a recording."""
        made = ", ".join(f"{name} {version}" for name, version in self.versions.items())
        return (
            f"Recorded, not computed now: {self.title} reading “{self.text}” "
            f"({made}); a test computes it again."
        )

    def weights(
        self, layer: int, head: int, rows: slice | None = None, cols: slice | None = None
    ) -> Float32[np.ndarray, "rows cols"]:
        """The exact attention weights of one head, as Capture.weights gives them."""
        self._require(layer, head)
        return self.maps[layer, head, rows or slice(None), cols or slice(None)]

    def blocked(
        self, layer: int, rows: slice | None = None, cols: slice | None = None
    ) -> Bool[np.ndarray, "rows cols"]:
        """True where the layer's mask forbids the pair."""
        self._require(layer, 0)
        return self.mask[layer, rows or slice(None), cols or slice(None)]

    def largest(
        self,
        layer: int,
        head: int,
        block: int,
        rows: slice | None = None,
        cols: slice | None = None,
    ) -> tuple[Float32[np.ndarray, "down across"], Bool[np.ndarray, "down across"]]:
        """Each block's largest weight and whether all of it is masked, as Capture.largest."""
        values = self.weights(layer, head, rows, cols)
        down, across = (np.arange(0, side, block) for side in values.shape)
        masked = self.blocked(layer, rows, cols)
        return (
            np.maximum.reduceat(np.maximum.reduceat(values, down, axis=0), across, axis=1),
            np.logical_and.reduceat(np.logical_and.reduceat(masked, down, 0), across, 1),
        )

    def tops(self, layer: int, head: int) -> Float32[np.ndarray, " rows"]:
        """The largest weight of each row of one head's map."""
        return self.weights(layer, head).max(1)

    def overview(self, size: int = 32) -> Float32[np.ndarray, "layers heads size size"]:
        """Every map at a glance: the maps themselves, or the means of size x size blocks."""
        if size >= self.n_tokens:
            return self.maps
        cells = np.arange(self.n_tokens) * size // self.n_tokens
        pool = (cells[None, :] == np.arange(size)[:, None]).astype(np.float32)
        pool /= pool.sum(1, keepdims=True)  # (size, tokens)
        return np.einsum("aq,lhqk,bk->lhab", pool, self.maps, pool)

    def metrics(self) -> Any:
        """A DataFrame with a row per (layer, head), as Capture.metrics gives it."""
        import pandas as pd

        n_layers, n_heads, _ = self.numbers.shape
        frame = pd.DataFrame(
            self.numbers.reshape(n_layers * n_heads, -1), columns=list(self.metric_names)
        )
        frame.insert(0, "layer", np.repeat(np.arange(n_layers), n_heads))
        frame.insert(1, "head", np.tile(np.arange(n_heads), n_layers))
        return frame

    def _require(self, layer: int, head: int) -> None:
        n_layers, n_heads = self.maps.shape[:2]
        if not (0 <= layer < n_layers and 0 <= head < n_heads):
            raise AttnvizError(
                f"The recording has layers 0 to {n_layers - 1} and heads 0 to {n_heads - 1}; "
                f"layer {layer}, head {head} is not there."
            )


@lru_cache(maxsize=4)
def load(name: str) -> Recording:
    """The recording of that name in assets/captures; needs numpy only."""
    path = FOLDER / f"{name}.npz"
    if not path.is_file():
        raise AttnvizError(
            f"There is no recording {name!r}; make it with: python -m attnviz.models record"
        )
    with np.load(path, allow_pickle=False) as file:
        about = json.loads(str(file["about"]))
        maps, mask, numbers = file["maps"], file["mask"], file["numbers"]
    for array in (maps, mask, numbers):
        array.flags.writeable = False  # it is shared between visitors
    layers = tuple(Layer(**layer) for layer in about.pop("layers"))
    lists = {name: tuple(value) for name, value in about.items() if isinstance(value, list)}
    return Recording(**{**about, **lists}, layers=layers, maps=maps, mask=mask, numbers=numbers)


def save(name: str, capture: Any, title: str) -> Path:
    """Keep a short capture (attnviz.models.Capture) whole, every head of every layer."""
    import torch
    import transformers

    layers = capture.captured
    table = capture.metrics().drop(columns=["layer", "head"])
    maps = np.stack(
        [np.stack([capture.weights(at.index, h) for h in range(at.n_heads)]) for at in layers]
    )
    about = {
        "model_name": capture.model_name,
        "title": title,
        "text": capture.text,
        "tokens": capture.tokens,
        "token_details": capture.token_details,
        "token_ids": capture.token_ids,
        "special": capture.special,
        "layers": [asdict(layer) for layer in layers],
        "versions": {
            "torch": torch.__version__.partition("+")[0],
            "transformers": transformers.__version__,
        },
        "check": capture.check.sentence,
        "metric_names": tuple(table.columns),
    }
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / f"{name}.npz"
    np.savez_compressed(
        path,
        about=np.array(json.dumps(about, ensure_ascii=False)),
        maps=maps,
        mask=np.stack([capture.blocked(layer.index) for layer in layers]),
        numbers=table.to_numpy(np.float32).reshape(len(layers), -1, table.shape[1]),
    )
    load.cache_clear()
    return path

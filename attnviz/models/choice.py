"""A model as a visitor asks for it, and what is known of it before it is loaded.

Cheap to import: nothing of PyTorch is needed until a model is.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

from attnviz.errors import ModelError
from attnviz.models.catalog import Kind
from attnviz.models.progress import Progress, part

if TYPE_CHECKING:
    from attnviz.models.loaded import LoadedModel

READERS: tuple[Kind, ...] = ("decoder", "encoder", "encoder_decoder")
"""The kinds of models that read a text."""
ONE_TEXT: tuple[Kind, ...] = ("decoder", "encoder")
"""Those that read one text and write into no other."""

REFUSED = {
    "vision": "sees pictures and reads no text here; choose a model that reads text, or open it "
    "under Inspect a model",
    "encoder_decoder": "reads one text and writes another, and every text here stands for itself; "
    "choose a decoder or an encoder, or open it under Interventions",
}


@dataclass(frozen=True)
class ModelChoice:
    """Which weights, in which number format, on which device. It holds no model.

    Equal choices are the same weights: of a folder or a file on this machine its contents' sizes
    and times count too, so that what a training run has written anew is another choice.
    """

    name: str  # a catalog name, a local folder or GGUF file, or a Hub id, its revision after an @
    dtype: str = "auto"  # or float32, bfloat16, float16
    device: str = "auto"  # where ATTNVIZ_DEVICE says, or cpu, cuda, cuda:1, mps
    stamp: str = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "stamp", stamp_of(self.name))

    @property
    def stem(self) -> str:
        """What a file of results is called after."""
        return Path(self.name).name

    @property
    def code(self) -> str:
        """Python that loads it."""
        more = {"dtype": self.dtype, "device": self.device}
        given = [f"{word}={value!r}" for word, value in more.items() if value != "auto"]
        return f"av.load_model({', '.join([repr(self.name), *given])})"

    def load(self, progress: Progress, kinds: Collection[Kind] = ()) -> LoadedModel:
        """The shared model, loaded at most once, if this deployment lets a visitor load it.

        kinds: those that are taken; any unless given. Raises ModelError, or TooLargeError, in a
        sentence that says what to change.
        """
        progress(0.0, "Loading the libraries (once)")
        from attnviz.models.loading import check_visitor_model, get_model

        check_visitor_model(self.name)
        model = get_model(
            self.name,
            dtype=None if self.dtype == "auto" else self.dtype,
            device=None if self.device == "auto" else self.device,
            progress=part(progress, 0.1, 1.0),
        )
        _require_kind(model.title, model.kind, kinds)
        return model


@dataclass(frozen=True)
class KindJob:
    """What a model does with its input, as its config says it, before its weights are loaded."""

    model: ModelChoice
    kinds: tuple[Kind, ...] = READERS  # those that are taken

    def run(self, progress: Progress) -> Kind:
        """Raises ModelError as a load does, and for a kind that is not taken."""
        progress(0.0, "Loading the libraries (once)")
        from attnviz.models.loading import check_visitor_model, kind_ahead

        check_visitor_model(self.model.name)
        title, kind = kind_ahead(self.model.name, part(progress, 0.1, 1.0))
        _require_kind(title, kind, self.kinds)
        return kind


def _require_kind(title: str, kind: Kind, kinds: Collection[Kind]) -> None:
    if kinds and kind not in kinds:
        raise ModelError(f"{title} {REFUSED[kind]}.")


def stamp_of(name: str) -> str:
    """A digest of the files of a model folder, or of a GGUF file: their names, sizes and times.

    "" of what is neither.
    """
    try:
        path = Path(name).expanduser()
        files = [path] if path.suffix.lower() == ".gguf" and path.is_file() else []
        if (path / "config.json").is_file():
            files = sorted(file for file in path.iterdir() if file.is_file())
        states = [(file.name, file.stat()) for file in files]
    except (OSError, ValueError, RuntimeError):  # no path on this system: what loads it says so
        return ""
    told = repr([(name, state.st_size, state.st_mtime_ns) for name, state in states])
    return blake2b(told.encode(), digest_size=8).hexdigest() if states else ""

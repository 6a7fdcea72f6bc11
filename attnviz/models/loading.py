"""Find a model by its name and load it: bundled, a local folder, a GGUF file, the Hub."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from attnviz.device import device as chosen_device
from attnviz.errors import ModelError
from attnviz.models import catalog, hub
from attnviz.models.catalog import Kind
from attnviz.models.checkpoint import inspect
from attnviz.models.choice import stamp_of
from attnviz.models.convert import converted
from attnviz.models.library import alone
from attnviz.models.loaded import LoadedModel
from attnviz.models.progress import Progress, part, silent
from attnviz.models.quiet import quiet
from attnviz.models.reading import read_folder, read_gguf, stated_kind
from attnviz.models.store import Store
from attnviz.settings import settings


def load_model(
    name: str,
    *,
    device: str | torch.device | None = None,
    dtype: torch.dtype | str | None = None,
    progress: Progress | None = None,
) -> LoadedModel:
    """Load a model: a catalog name, a local folder or GGUF file, or a Hub id.

    device: where ATTNVIZ_DEVICE says unless given. dtype: PyTorch's, or one of FORMATS by its
    name; float32 for bundled models and on a CPU, else the checkpoint's own, unless given. Only
    safetensors (and GGUF) weights are opened, code that comes with a model is never run, and
    nothing but a Hub id touches the network.

    Raises ModelError, or TooLargeError before loading, with a sentence that says what to change.
    """
    report = progress or silent
    if isinstance(dtype, str):
        if dtype not in FORMATS:
            raise ModelError(
                f"The number format must be one of {', '.join(FORMATS)}, not {dtype!r}."
            )
        dtype = FORMATS[dtype]
    place = chosen_device(device)
    entry = catalog.find(name)
    if entry is not None:
        folder = converted(entry, part(report, 0.0, 0.8)) if entry.is_gguf else entry.source()
        loaded = read_folder(
            inspect(folder),
            name=name,
            title=entry.title,
            place=place,
            dtype=dtype or torch.float32,
            report=part(report, 0.8, 1.0),
        )
        return replace(loaded, notes=(entry.provenance, *loaded.notes))
    found, title = _found(name, place, part(report, 0.0, 0.7))
    inner = part(report, 0.7, 1.0)
    if found.is_file():
        return read_gguf(found, name=name, place=place, dtype=dtype, report=inner)
    return read_folder(
        inspect(found), name=name, title=title, place=place, dtype=dtype, report=inner
    )


def kind_ahead(name: str, progress: Progress | None = None) -> tuple[str, Kind]:
    """(title, kind) of a model by its config, as load_model would give them; no weights are read.

    Raises as load_model does, but for the memory that loading takes.
    """
    entry = catalog.find(name)
    if entry is not None:
        return entry.title, entry.kind
    found, title = _found(name, chosen_device(None), progress or silent)
    # A GGUF file holds a language model.
    return title, "decoder" if found.is_file() else stated_kind(inspect(found), title)


def _found(name: str, place: torch.device, report: Progress) -> tuple[Path, str]:
    """(the folder or GGUF file of a model that is not bundled, its title), fetched if need be."""
    path = _path(name)
    if path.is_dir() or (name.lower().endswith(".gguf") and path.is_file()):
        return path, path.resolve().name
    if path.exists():
        raise ModelError(
            f"{shortened(name)} is a file, not a model folder; give the folder that holds "
            "config.json, or a .gguf file."
        )
    if not hub.looks_like_id(name):
        raise ModelError(
            f"There is no model {shortened(name)}: it is not a bundled model "
            f"({', '.join(e.name for e in catalog.bundled())}), a folder that exists, or a Hub id "
            "of the form organisation/model."
        )
    return hub.download(name, place, report), name


def get_model(
    name: str,
    *,
    dtype: str | None = None,
    device: str | None = None,
    progress: Progress | None = None,
) -> LoadedModel:
    """The shared model of that name and format, loaded once, and anew once its files change.

    ATTNVIZ_MAX_MODELS are kept. dtype: one of FORMATS by its name. Raises as load_model does.
    """
    report = progress or silent
    place = str(chosen_device(device))
    return _STORE.get(
        (name, stamp_of(name), place, dtype),
        lambda: load_model(name, device=place, dtype=dtype, progress=report),
        report,
    )


FORMATS = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}


_STORE: Store[LoadedModel] = Store(lambda: settings().max_models)


def check_visitor_model(name: str) -> None:
    """The pages' door: ModelError unless this deployment lets a visitor load that name.

    Bundled models are always allowed, folders and GGUF files inside ATTNVIZ_MODEL_DIRS, Hub ids
    where ATTNVIZ_HUB is on. A name that is also a path on this server counts as the path.
    """
    if catalog.find(name) is not None:
        return
    path = _path(name)
    if path.exists() or name.lower().endswith(".gguf") or not hub.looks_like_id(name):
        inside = (path.resolve().is_relative_to(base.resolve()) for base in settings().model_dirs)
        if not any(inside):
            raise ModelError(
                f"{shortened(name)} is not in a folder that visitors of this installation may "
                "load from; choose a bundled model, or have the folder added to "
                "ATTNVIZ_MODEL_DIRS."
            )
    elif not settings().hub:
        raise ModelError(
            f"{shortened(name)} is not a bundled model, and models from the Hub are switched off "
            "here; choose a bundled one."
        )


@lru_cache(maxsize=4)
def load_tokenizer(name: str) -> Any:
    """The tokenizer of a bundled model, without its weights."""
    with alone(), quiet():
        from transformers import AutoTokenizer

        return AutoTokenizer.from_pretrained(_folder(name), local_files_only=True)


@lru_cache(maxsize=1)
def embedding_table(name: str) -> Float[Tensor, "vocabulary hidden"]:
    """The token embedding table of a bundled model, read alone from its weight file."""
    from safetensors import safe_open

    with safe_open(_folder(name) / "model.safetensors", framework="pt") as file:
        names = ("embed_tokens.weight", "word_embeddings.weight")
        key = next(key for key in sorted(file.keys()) if key.endswith(names))
        return file.get_tensor(key).float()


def _path(name: str) -> Path:
    """The name as a path, if it can be one on this system."""
    if not name.strip():
        raise ModelError("No model is named; type a Hub id such as organisation/model.")
    try:
        path = Path(name).expanduser()
        path.exists()
        path.resolve()
    except (OSError, ValueError, RuntimeError):
        raise ModelError(
            f"{shortened(name)} cannot be the name of a model; type a Hub id such as "
            "organisation/model, or a folder."
        ) from None
    return path


def shortened(name: str) -> str:
    """A typed name as an error may quote it."""
    return repr(name if len(name) <= 80 else name[:79] + "…")


def _folder(name: str) -> Path:
    entry = catalog.find(name)
    if entry is None:
        raise ModelError(f"{name!r} is not a bundled model.")
    return converted(entry) if entry.is_gguf else entry.source()

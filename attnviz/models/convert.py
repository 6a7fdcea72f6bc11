"""A bundled GGUF file, dequantised once to float32 safetensors in the user's cache folder.

Reading GGUF takes about 25 s at each start, the converted folder about 2 s. The folder appears
in one rename, holds a manifest of sizes and checksums, and is made again when it is damaged.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from functools import lru_cache
from pathlib import Path

from filelock import FileLock, Timeout

from attnviz.errors import ModelError
from attnviz.models.catalog import Entry
from attnviz.models.library import alone
from attnviz.models.progress import Progress, silent
from attnviz.settings import settings

MANIFEST = "manifest.json"
FORMAT = 1
"""Raised when the conversion itself changes, so that older folders are made again."""


def converted(entry: Entry, progress: Progress | None = None) -> Path:
    """The folder of this entry's converted weights, made first if it is missing or damaged.

    Safe across processes: one converts while the others wait. Raises ModelError when the cache
    folder cannot be written or the source cannot be read.
    """
    report = progress or silent
    source = entry.source()
    folder = settings().cache_dir / "models" / entry.name
    if _damage(folder, source) is None:
        return folder
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with _only_one(folder.with_suffix(".lock"), entry, report):
            if _damage(folder, source) is not None:
                _convert(entry, source, folder, report)
    except OSError as problem:
        raise ModelError(
            f"{entry.title} could not be converted into {folder.parent}: "
            f"{problem.strerror or problem}; free space there or set ATTNVIZ_CACHE to another "
            "folder."
        ) from problem
    return folder


def damage(entry: Entry) -> str | None:
    """What is wrong with this entry's converted folder, in words; None: nothing."""
    return _damage(settings().cache_dir / "models" / entry.name, entry.source())


def _damage(folder: Path, source: Path) -> str | None:
    try:
        manifest = json.loads((folder / MANIFEST).read_text("utf-8"))
        files, origin = dict(manifest["files"]), manifest["source"]
    except (OSError, ValueError, KeyError, TypeError):
        return "it has no readable manifest"
    if manifest.get("format") != FORMAT or origin != _origin(source):
        return "it was made from another file or by another version"
    for name, expected in files.items():
        path = folder / name
        if not path.is_file():
            return f"{name} is missing"
        if path.stat().st_size != expected["bytes"]:
            return f"{name} has {path.stat().st_size:,} bytes instead of {expected['bytes']:,}"
        if _checksum(path, path.stat().st_mtime_ns) != expected["sha256"]:
            return f"{name} has changed"
    return None


def _convert(entry: Entry, source: Path, folder: Path, report: Progress) -> None:
    """Write beside the final place, then rename: nobody ever sees half a folder."""
    with tempfile.TemporaryDirectory(prefix=f".{entry.name}-", dir=folder.parent) as temporary:
        fresh = Path(temporary) / "model"
        fresh.mkdir()
        _write(entry, source, fresh, report)
        report(0.95, "Checking the converted files")
        manifest = {
            "format": FORMAT,
            "source": _origin(source),
            "files": {
                path.name: {"bytes": path.stat().st_size, "sha256": _checksum(path, 0)}
                for path in sorted(fresh.iterdir())
            },
        }
        (fresh / MANIFEST).write_text(json.dumps(manifest, indent=1), "utf-8")
        shutil.rmtree(folder, ignore_errors=True)
        fresh.rename(folder)
    report(1.0, f"{entry.title} is ready")


def _write(entry: Entry, source: Path, fresh: Path, report: Progress) -> None:
    """Save model, config and tokenizer of a GGUF file as an ordinary float32 model folder."""
    report(0.02, "Loading the libraries")
    import torch

    with alone():
        from transformers import AutoModelForCausalLM, AutoTokenizer

    from attnviz.models.quiet import quiet

    where = {"gguf_file": source.name, "local_files_only": True}
    report(0.1, f"Dequantising {entry.title} (about 20 s, once)")
    with quiet():
        loaded = AutoModelForCausalLM.from_pretrained(source.parent, dtype=torch.float32, **where)
        # A model read from GGUF refuses to be saved: its config still says quantised. A fresh
        # model of the same shape takes the dequantised weights.
        settings_ = loaded.config.to_dict()
        settings_.pop("quantization_config", None)
        settings_["architectures"] = [type(loaded).__name__]
        config = type(loaded.config).from_dict(settings_)
        with torch.device("meta"):
            clean = AutoModelForCausalLM.from_config(config, dtype=torch.float32)
        clean.load_state_dict(loaded.state_dict(), assign=True)
        clean.tie_weights()
        report(0.6, "Writing the weights")
        clean.save_pretrained(fresh)
        report(0.8, "Reading the tokenizer")
        AutoTokenizer.from_pretrained(source.parent, **where).save_pretrained(fresh)


def _only_one(path: Path, entry: Entry, report: Progress) -> FileLock:
    """A held lock on the conversion, telling the waiting visitor what is going on."""
    lock = FileLock(path)
    while True:
        try:
            lock.acquire(timeout=0.5)
            return lock
        except Timeout:
            report(0.05, f"Waiting: another process is converting {entry.title}")


def _origin(source: Path) -> dict[str, object]:
    return {"name": source.name, "bytes": source.stat().st_size}


@lru_cache(maxsize=64)
def _checksum(path: Path, changed: int) -> str:
    """A file's SHA-256, read once a process as long as its time of change stays the same."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

"""Look at a model folder before anything loads it: is it a model, whole, safe, small enough?

Only JSON and safetensors headers are read here. Each problem is a ModelError whose sentence
says what to change.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any, TypeGuard

import torch

from attnviz.errors import ModelError
from attnviz.models.library import alone

PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl")
INDEX = "model.safetensors.index.json"
LONGEST_HEADER = 100 * 2**20  # bytes; the safetensors format's own limit


@dataclass(frozen=True)
class Checkpoint:
    """A folder that passed inspection."""

    folder: Path
    config: dict[str, Any]
    parameters: int  # numbers in its weight files
    stored_bytes: int  # of its weights
    stored_dtype: str  # of most of them, as safetensors writes it: F32, BF16
    notes: tuple[str, ...] = ()

    @property
    def quantised(self) -> str | None:
        """The method its weights are quantised with, as the config names it."""
        asked = self.config.get("quantization_config")
        return str(asked.get("quant_method", "unknown")) if isinstance(asked, dict) else None

    def bytes_as(self, dtype: torch.dtype) -> int:
        """What the weights take in memory: in this format, or as they are when quantised."""
        return self.stored_bytes if self.quantised else self.parameters * dtype.itemsize


def inspect(folder: Path) -> Checkpoint:
    """Check a local model folder; ModelError when it cannot be loaded as it is."""
    config = _config(folder)
    notes = _own_code(folder, config)
    files = _weight_files(folder)
    counts: dict[str, int] = {}
    size = 0
    for file in files:
        for tensor in _header(file).values():
            counts[tensor["dtype"]] = counts.get(tensor["dtype"], 0) + prod(tensor["shape"])
            size += tensor["data_offsets"][1] - tensor["data_offsets"][0]
    if not counts:
        raise ModelError(
            f"The weight files in {folder.name} hold no tensors; choose another model."
        )
    return Checkpoint(
        folder=folder,
        config=config,
        parameters=sum(counts.values()),
        stored_bytes=size,
        stored_dtype=max(counts, key=lambda dtype: counts[dtype]),
        notes=notes,
    )


def _config(folder: Path) -> dict[str, Any]:
    path = folder / "config.json"
    if not path.is_file():
        raise ModelError(
            f"{folder.name} is not a model folder: it has no config.json; choose a folder that "
            "save_pretrained wrote or that was downloaded from the Hub."
        )
    try:
        config = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as problem:
        raise ModelError(
            f"config.json in {folder.name} cannot be read as JSON; download the model again."
        ) from problem
    if not isinstance(config, dict) or not isinstance(config.get("model_type"), str):
        raise ModelError(
            f"config.json in {folder.name} names no model_type, so it is not a transformers "
            "model; choose another folder."
        )
    return config


def _own_code(folder: Path, config: dict[str, Any]) -> tuple[str, ...]:
    """Refuse a model that only code of its own can build; note code that is left unused."""
    with alone():
        from transformers import CONFIG_MAPPING

    kind = config["model_type"]
    if kind not in CONFIG_MAPPING:
        brings = "auto_map" in config
        raise ModelError(
            f"{folder.name} is a {kind!r} model, which "
            + ("needs code of its own that is never run here" if brings else "is not known here")
            + "; choose a model that transformers itself supports."
        )
    if "auto_map" in config:
        return ("The model brings code of its own, which was not run: transformers' was used.",)
    return ()


def _weight_files(folder: Path) -> list[Path]:
    index = folder / INDEX
    if index.is_file():
        try:
            names = sorted(set(json.loads(index.read_text("utf-8"))["weight_map"].values()))
            if not all(isinstance(name, str) for name in names):
                raise TypeError("a weight file's name is no string")
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as problem:
            raise ModelError(
                f"{INDEX} in {folder.name} cannot be read; download the model again."
            ) from problem
        if any(Path(name).name != name for name in names):
            raise ModelError(
                f"{INDEX} in {folder.name} names weight files outside that folder, which are not "
                "read; download the model again."
            )
        missing = [name for name in names if not (folder / name).is_file()]
        if missing:
            raise ModelError(
                f"{folder.name} lacks {len(missing)} of its {len(names)} weight files (first: "
                f"{missing[0]}); download the model again."
            )
        return [folder / name for name in names]
    if (folder / "model.safetensors").is_file():
        return [folder / "model.safetensors"]
    if (folder / "adapter_config.json").is_file():
        raise ModelError(
            f"{folder.name} holds only an adapter; merge it into its base model and save that."
        )
    if any(next(folder.glob(pattern), None) for pattern in PICKLES):
        raise ModelError(
            f"{folder.name} has its weights only as pickle files, which can run code when they "
            "are opened; save the model again with save_pretrained, as safetensors."
        )
    raise ModelError(
        f"{folder.name} has no weights: expected model.safetensors; download the model again."
    )


def _header(file: Path) -> dict[str, Any]:
    """The tensors a safetensors file claims to hold, checked against its true length.

    Format: 8 bytes little-endian header length, JSON header, data (safetensors' README).
    """
    damaged = ModelError(
        f"{file.name} in {file.parent.name} is damaged or incomplete ({file.stat().st_size:,} "
        "bytes); download the model again."
    )
    try:
        with file.open("rb") as opened:
            length = int.from_bytes(opened.read(8), "little")
            if not 2 <= length <= min(LONGEST_HEADER, file.stat().st_size):
                raise damaged
            header = json.loads(opened.read(length))
    except (OSError, ValueError) as problem:
        if isinstance(problem, ModelError):
            raise
        raise damaged from problem
    if not isinstance(header, dict):
        raise damaged
    header.pop("__metadata__", None)
    if not all(_is_tensor(entry) for entry in header.values()):
        raise damaged
    end = max((entry["data_offsets"][1] for entry in header.values()), default=0)
    if file.stat().st_size != 8 + length + end:
        raise damaged
    return header


def _is_tensor(entry: object) -> bool:
    """Does this header entry say what a tensor's must: dtype, shape, two offsets?"""
    if not isinstance(entry, dict) or not isinstance(entry.get("dtype"), str):
        return False
    shape, offsets = entry.get("shape"), entry.get("data_offsets")
    return _are_counts(shape) and _are_counts(offsets) and len(offsets) == 2


def _are_counts(value: object) -> TypeGuard[list[int]]:
    return isinstance(value, list) and all(type(each) is int and each >= 0 for each in value)

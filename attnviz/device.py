"""One setting chooses where everything is computed; the number format follows it."""

from __future__ import annotations

import torch

from attnviz.errors import AttnvizError
from attnviz.settings import settings


def device(name: str | torch.device | None = None) -> torch.device:
    """The device of that name, or of ATTNVIZ_DEVICE; auto takes the best one present.

    Raises AttnvizError when this machine has no such device.
    """
    wanted = str(name or settings().device)
    if wanted == "auto":
        if torch.cuda.is_available():
            return torch.device("cuda", torch.cuda.current_device())
        return torch.device("mps" if torch.backends.mps.is_available() else "cpu")
    try:
        chosen = torch.device(wanted)
    except RuntimeError:
        raise AttnvizError(
            f"The device must be auto, cpu, cuda, cuda:0 or mps, not {wanted!r}; change "
            "ATTNVIZ_DEVICE or device=."
        ) from None
    present = {
        "cpu": 1,
        "cuda": torch.cuda.device_count(),
        "mps": int(torch.backends.mps.is_available()),
    }.get(chosen.type)
    if present is None or (chosen.index or 0) >= present:
        raise AttnvizError(
            f"This machine has no device {wanted!r}; set ATTNVIZ_DEVICE to auto or cpu."
        )
    return chosen


def present() -> dict[str, str]:
    """The devices of this machine, and what each is."""
    devices = {"cpu": f"{torch.get_num_threads()} threads"}
    for number in range(torch.cuda.device_count()):
        devices[f"cuda:{number}"] = torch.cuda.get_device_name(number)
    if torch.backends.mps.is_available():
        devices["mps"] = "Apple's graphics processor"
    return devices


def absent() -> dict[str, str]:
    """The kinds of device that are not here, each with a sentence that says why."""
    missing = {}
    if not torch.cuda.is_available():
        built = torch.version.cuda or torch.version.hip
        missing["cuda"] = (
            "PyTorch finds no NVIDIA or AMD GPU on this machine."
            if built
            else "this PyTorch was built without CUDA or ROCm; install a build that has it."
        )
    if not torch.backends.mps.is_available():
        built = torch.backends.mps.is_built()
        missing["mps"] = (
            "macOS does not offer it to this PyTorch."
            if built
            else "it needs a Mac of Apple's own."
        )
    return missing


def dtype_for(place: torch.device, checkpoint: torch.dtype | None = None) -> torch.dtype:
    """float32 on a CPU, where half precision is slow; elsewhere the checkpoint's own format.

    checkpoint is the format the weights are stored in; None where there are none yet.
    """
    if place.type == "cpu" or checkpoint not in (torch.float16, torch.bfloat16):
        return torch.float32
    return checkpoint


def describe(name: str | torch.device | None = None) -> str:
    """A device, or that of ATTNVIZ_DEVICE, in words: its name, and what makes it that fast."""
    place = device(name)
    if place.type == "cuda":
        return f"{place}, {torch.cuda.get_device_name(place)}"
    if place.type == "cpu":
        return f"cpu, {torch.get_num_threads()} threads, float32"
    return f"{place}, float32"

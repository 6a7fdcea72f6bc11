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


def dtype_for(place: torch.device, checkpoint: torch.dtype | None = None) -> torch.dtype:
    """float32 on a CPU, where half precision is slow; elsewhere the checkpoint's own format.

    checkpoint is the format the weights are stored in; None where there are none yet.
    """
    if place.type == "cpu" or checkpoint not in (torch.float16, torch.bfloat16):
        return torch.float32
    return checkpoint


def describe() -> str:
    """The device of ATTNVIZ_DEVICE in words, for a page: its name, and what makes it that fast."""
    place = device()
    if place.type == "cuda":
        return f"{place}, {torch.cuda.get_device_name(place)}"
    if place.type == "cpu":
        return f"cpu, {torch.get_num_threads()} threads, float32"
    return f"{place}, float32"

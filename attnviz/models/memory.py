"""How much memory a run will take, told before it starts."""

from __future__ import annotations

from pathlib import Path

import psutil
import torch

from attnviz.errors import TooLargeError
from attnviz.models.loaded import LoadedModel
from attnviz.models.stream import CELLS
from attnviz.settings import settings

GIB = 2**30
SPARE = 0.9  # of what is free, the rest being for everyone else
SLACK = 1.15  # what an allocator keeps between tensors of different sizes, measured
LOGIT_ROWS = 64  # positions whose logits are compared with a plain run


def estimate(model: LoadedModel, n_tokens: int) -> int:
    """Bytes that a capture of so many tokens adds at its peak, from the model's config alone.

    What is kept (queries and keys of every layer, as far as they stay in memory, and row sums)
    plus the widest moment of one layer: hidden states, the inner layer of the MLP, projections,
    logits of a few positions.
    """
    shape, itemsize = model.shape, model.dtype.itemsize
    heads, kv_heads = model.n_heads, model.n_kv_heads
    hidden = model.stated("hidden_size")
    head_dim = model.stated("head_dim") or hidden // max(1, heads)
    inner = model.stated("intermediate_size") or 4 * hidden
    kept = model.n_layers * n_tokens * head_dim * (heads + kv_heads) * itemsize
    kept = min(kept, settings().spill_gib * GIB) + model.n_layers * n_tokens * heads * 8
    wide = n_tokens * (3 * inner + 6 * hidden + 4 * head_dim * heads) * itemsize
    masks = n_tokens**2 if getattr(shape, "sliding_window", None) else 0
    logits = 2 * min(n_tokens, LOGIT_ROWS) * model.stated("vocab_size") * 4
    return int(SLACK * (kept + wide + masks + logits + 6 * CELLS * 4))


def whole_maps(model: LoadedModel, n_tokens: int) -> int:
    """Bytes of every map of a model, in float32, from its config alone.

    Of a pyramid that names the layers and heads of each stage (Swin, Hiera), n_tokens are the
    patches of the first: each further stage has a quarter of those of the one before.
    """
    depths, heads = (getattr(model.shape, name, None) for name in ("depths", "num_heads"))
    if isinstance(depths, (list, tuple)) and isinstance(heads, (list, tuple)):
        stages = enumerate(zip(depths, heads, strict=False))
        cells = sum(n * h * (n_tokens // 4**stage) ** 2 for stage, (n, h) in stages)
    else:
        cells = model.n_layers * max(1, model.n_heads) * n_tokens**2
    return cells * 4


def available(place: torch.device | None = None) -> int:
    """Bytes that one piece of work may take: ATTNVIZ_MEMORY_GIB, or most of what is free.

    place: the device whose memory is meant, the machine's own unless given.
    """
    if place is not None and place.type == "cuda":
        free = torch.cuda.mem_get_info(place)[0] * SPARE
    else:
        free = min(psutil.virtual_memory().available, _container()) * SPARE
    return int(min(free, settings().memory_gib * GIB))


def gpus() -> tuple[torch.device, ...]:
    """All CUDA devices of this machine."""
    return tuple(torch.device("cuda", number) for number in range(torch.cuda.device_count()))


def needs_all_gpus(n_bytes: int, place: torch.device) -> bool:
    """Whether so many bytes are too much for this GPU and there are others beside it."""
    return place.type == "cuda" and len(gpus()) > 1 and n_bytes * 1.1 > available(place)


def require(n_bytes: int, what: str, remedy: str, *places: torch.device) -> None:
    """Raise TooLargeError, a sentence, when so many bytes are not to be had.

    places: the devices that share them, the machine's own memory unless given.
    """
    free = sum(map(available, places)) if places else available()
    if n_bytes > free:
        raise TooLargeError(
            f"{what} needs about {n_bytes / GIB:.1f} GiB of memory and {free / GIB:.1f} GiB may "
            f"be used; {remedy}."
        )


def _container() -> float:
    """What a container's own limit leaves, which psutil does not see."""
    try:
        group = Path("/sys/fs/cgroup")
        limit = (group / "memory.max").read_text().strip()
        if limit == "max":
            return float("inf")
        return int(limit) - int((group / "memory.current").read_text())
    except (OSError, ValueError):
        return float("inf")

"""What inputs must be, each refusal a sentence."""

from __future__ import annotations

import operator
from collections.abc import Sequence

import torch
from torch import Tensor

from attnviz.errors import AttnvizError

DTYPES = (torch.float64, torch.float32, torch.bfloat16, torch.float16)
MOST = 10**12
VECTOR_BYTES = 20
"""A component at its peak: drawn in float64, joined, and cast to float32."""
ROW_BYTES = 600
"""What Python and PyTorch keep for each tensor, whatever it holds."""


def require_size(word: str, size: object) -> None:
    """Raise AttnvizError unless size is a whole number above 0."""
    if isinstance(size, bool) or not isinstance(size, int) or size < 1:
        raise AttnvizError(f"{word} must be a whole number of 1 or more; received {size!r}.")
    if size > MOST:
        raise AttnvizError(f"{word} must be at most {MOST:,}; received {size:,}.")


def place(word: str, number: object, length: int) -> int:
    """That one of so many, counted from 0; AttnvizError for one that is not there."""
    try:
        found = operator.index(number)  # type: ignore[arg-type]  # refuses 1.0 and "1" on purpose
    except TypeError:
        found = -1
    if not 0 <= found < length:
        raise AttnvizError(f"There are {word} 0 to {length - 1:,}; {number!r} is not there.")
    return found


def require_room(length: int, d_model: int, batch: int) -> None:
    """Raise TooLargeError if drawing so many vectors would take more memory than there is."""
    from attnviz.models.memory import require

    require(
        length * (batch * d_model * VECTOR_BYTES + ROW_BYTES),
        f"Drawing {length:,} vectors of {d_model:,} components, batch {batch:,},",
        "choose a smaller length, d_model or batch",
    )


def listed(tokens: object) -> Sequence[object]:
    """tokens, if they are a sequence; else one thing that is no word."""
    return tokens if isinstance(tokens, Sequence) else (None,)


def require_embeddings(embeddings: Tensor) -> None:
    if not isinstance(embeddings, Tensor):
        raise AttnvizError(
            f"Embeddings must be a torch tensor, (batch, length, d_model); received "
            f"{type(embeddings).__name__}: convert it with torch.as_tensor."
        )
    if embeddings.is_meta or embeddings.layout != torch.strided:
        raise AttnvizError(
            f"Embeddings must hold their numbers; received a tensor on {embeddings.device} of "
            f"layout {embeddings.layout}: give a dense one on cpu or cuda."
        )
    if embeddings.ndim != 3 or 0 in embeddings.shape:
        raise AttnvizError(
            f"Embeddings must be (batch, length, d_model), none of them 0; received shape "
            f"{tuple(embeddings.shape)}."
        )
    if not embeddings.is_floating_point():
        raise AttnvizError(f"Embeddings must be floating-point; received {embeddings.dtype}.")
    if embeddings.dtype not in DTYPES:
        known = ", ".join(str(dtype).removeprefix("torch.") for dtype in DTYPES)
        raise AttnvizError(f"Embeddings must be {known}; received {embeddings.dtype}.")
    if not bool(embeddings.isfinite().all()):
        raise AttnvizError("Embeddings must be finite; received NaN or infinity among them.")

"""A recurrence on a GPU, by flash-linear-attention's Triton kernels (Yang and Zhang 2024).

One kernel for each kind of recurrence: delta rules without decay, with one decay a head, with one
a channel; and without erasing, with one decay a head or a channel. Layout (B, T, H, d).
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from attnviz.variants.recurrence import Recurrence

KERNELS = {
    ("erases", "no decay"): ("fla.ops.delta_rule", "chunk_delta_rule"),
    ("erases", "head"): ("fla.ops.gated_delta_rule", "chunk_gated_delta_rule"),
    ("erases", "channel"): ("fla.ops.kda", "chunk_kda"),
    ("adds", "no decay"): ("fla.ops.simple_gla", "chunk_simple_gla"),
    ("adds", "head"): ("fla.ops.simple_gla", "chunk_simple_gla"),
    ("adds", "channel"): ("fla.ops.gla", "chunk_gla"),
}
"""Module and function by what the recurrence does."""


def in_triton(
    recurrence: Recurrence, initial_state: Tensor | None = None
) -> tuple[
    Float[Tensor, "batch heads length d_v"],
    Float[Tensor, "batch heads d_k columns"],
]:
    """The output of `recur`, and the final state, which stays in float32."""
    r = recurrence
    kind = kind_of(r)
    module, name = KERNELS[kind]
    given: dict[str, Any] = {
        "q": _rows(r.query),
        "k": _rows(r.key),
        "v": _rows(r.values if r.erases else r.strength[..., None] * r.values),
        "scale": r.scale,
        "initial_state": r.start(initial_state).float(),
        "output_final_state": True,
    }
    if r.erases:
        given["beta"] = _rows(r.strength)
    if kind[1] != "no decay":
        per_head = kind[1] == "head"
        word = "gk" if name == "chunk_gla" else "g"
        given[word] = _rows(r.log_decay[..., 0] if per_head else r.log_decay).float()
    read, state = getattr(import_module(module), name)(**given)
    return r.finish(_rows(read).to(r.value.dtype)), state


def kind_of(recurrence: Recurrence) -> tuple[str, str]:
    """Does it erase, and what has a decay of its own?"""
    still = bool((recurrence.log_decay == 0).all())
    per_head = recurrence.log_decay.shape[-1] == 1
    decay = "no decay" if still else "head" if per_head else "channel"
    return "erases" if recurrence.erases else "adds", decay


def _rows(x: Tensor) -> Tensor:
    """(B, H, T, ..) to (B, T, H, ..) and back."""
    return torch.transpose(x, 1, 2).contiguous()

"""From what a kernel of transformers is called with to what drives the state.

Names and layouts are those of transformers' torch functions, which follow flash-linear-attention
(B, T, H, d) and mamba_ssm; a kernel that this file does not name has no map. Each reader takes the
call's arguments by name, of one text, and gives the drive and the factor that the kernel applies
to A V (the gate z of Mamba), or None.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from attnviz.errors import ModelError
from attnviz.models.mixers.drive import Drive
from attnviz.models.mixers.states import StateDrive
from attnviz.models.mixers.wkv import WkvDrive

Read = tuple[Drive, Tensor | None]


def delta_rule(call: Mapping[str, Any]) -> Read:
    """Gated DeltaNet and KDA: decays of a head, or of each key channel."""
    query, key = _one(call["query"]), _one(call["key"])  # (T, G, d_k)
    g = _one(call["g"])  # (T, H) or (T, H, d_k)
    drive = StateDrive(
        query=_heads_first(query),
        key=_heads_first(key),
        value=_heads_first(_one(call["value"])),
        strength=_own(_one(call["beta"]).T),
        log_decay=_heads_first(g if g.ndim == 3 else g[..., None]),
        scale=query.shape[-1] ** -0.5,
        erases=True,
        unit=bool(call.get("use_qk_l2norm_in_kernel")),
    )
    return drive, None


def state_space(call: Mapping[str, Any]) -> Read:
    """Mamba-2 (Dao and Gu 2024): C asks, B is the key, the step dt fades and writes."""
    low, high = call.get("dt_limit") or (0.0, float("inf"))
    step = _step(_one(call["dt"]), call.get("dt_bias"), call.get("dt_softplus")).clamp(low, high)
    D = call.get("D")
    if D is not None and D.ndim > 1:
        raise ModelError("its skip differs from channel to channel, so a head has no one map")
    drive = StateDrive(
        query=_heads_first(_one(call["C"])),
        key=_heads_first(_one(call["B"])),
        value=_heads_first(_one(call["hidden_states"])),
        kind="state_space",
        strength=_own(step.T),
        rates=_own(call["A"].float()[:, None]),
        skip=None if D is None else _own(D),
    )
    return drive, _gate(call.get("z"))


def selective_scan(call: Mapping[str, Any]) -> Read:
    """Mamba (Gu and Dao 2023): every channel is a head with a decay for each of its N numbers."""
    bias = call.get("delta_bias")
    step = _one(call["dt"]).T  # (T, channels)
    step = _step(step, bias, call.get("delta_softplus"))
    D = call.get("D")
    drive = StateDrive(
        query=_own(_one(call["C"]).T)[None],
        key=_own(_one(call["B"]).T)[None],
        value=_own(_one(call["hidden_states"]))[..., None],
        kind="state_space",
        strength=_own(step.T),
        rates=_own(call["A"].float()),
        skip=None if D is None else _own(D),
    )
    gate = _gate(call.get("z"))  # (channels, T)
    return drive, None if gate is None else gate[..., None]


def wkv(call: Mapping[str, Any]) -> Read:
    """RWKV (Peng et al. 2023): every channel is a head with a softmax of its own."""
    if call.get("state") is not None:
        raise ModelError("it starts from the state of an earlier text")
    drive = WkvDrive(
        value=_own(_one(call["value"]).T)[..., None],
        key=_own(_one(call["key"]).T),
        rate=_own(call["time_decay"].float().exp()),
        bonus=_own(call["time_first"].float()),
    )
    return drive, None


def lightning(query: Tensor, key: Tensor, value: Tensor, slopes: Tensor) -> Drive:
    """MiniMax: (H, T, d) after SiLU, constant decays, no scale."""
    heads, length = query.shape[:2]
    return StateDrive(
        query=_own(query),
        key=_own(key),
        value=_own(value),
        strength=torch.ones(1, 1, device=query.device).expand(heads, length),
        rates=-slopes.detach().float().reshape(heads, 1),
    )


KERNELS: dict[str, tuple[Callable[[Mapping[str, Any]], Read], bool]] = {
    "torch_chunk_gated_delta_rule": (delta_rule, True),
    "chunk_kimi_delta_attention": (delta_rule, True),
    "mamba2_chunk_scan": (state_space, True),
    "mamba_selective_scan": (selective_scan, False),
    "rwkv_linear_attention": (wkv, True),
}
"""By the name in the model's file: its reader, and whether the output is (B, T, H[, d_v])."""

HELPERS = ("causal_conv1d_fn", "torch_recurrent_gated_delta_rule", "recurrent_kimi_delta_attention")
"""What else the layers call that transformers may send to a GPU kernel; none is recorded."""


def output_of(name: str, result: Any) -> Tensor:
    """(H, T, d_v): what this kernel returned, heads first; d_v is 1 where channels are heads."""
    out = _one(result[0] if isinstance(result, tuple) else result)
    out = out.transpose(0, 1) if KERNELS[name][1] else out
    return out if out.ndim == 3 else out[..., None]


def _step(dt: Tensor, bias: Tensor | None, softplus: Any) -> Tensor:
    """(T, H): the step as the kernel makes it."""
    dt = dt if bias is None else dt + bias.to(dt.dtype)
    return F.softplus(dt) if softplus else dt


def _gate(z: Tensor | None) -> Tensor | None:
    return None if z is None else F.silu(_one(z).float())


def _one(tensor: Tensor) -> Tensor:
    """The one text of a batch."""
    if tensor.shape[0] != 1:
        raise ModelError(f"it ran on {tensor.shape[0]} texts at once")
    return tensor[0]


def _heads_first(tensor: Tensor) -> Tensor:
    return _own(tensor.transpose(0, 1))


def _own(tensor: Tensor) -> Tensor:
    """A tensor that keeps nothing else alive."""
    return tensor.detach().clone(memory_format=torch.contiguous_format)

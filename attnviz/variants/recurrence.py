"""The one recurrence behind every mixer that keeps a state instead of a cache, token by token.

    S_t = Diag(alpha_t) S_{t-1} + k_t u_t^T        o_t = s S_t^T q_t

A mixer is a choice of what is written. Additive ones write u_t = beta_t v_t (linear attention,
retention, lightning, Mamba-2). Delta rules first ask the decayed state what it already holds under
k_t and write only what is missing: u_t = beta_t (v_t - (Diag(alpha_t) S_{t-1})^T k_t).
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import torch
from jaxtyping import Float
from torch import Tensor


@dataclass(frozen=True)
class Recurrence:
    """What drives the state, for every token.

    log_decay is log(alpha), 0 or below: one number a head (last axis 1) or one a key channel. It
    stays a logarithm because a product of many decays underflows. strength is beta, or Mamba's
    step. erases: the delta rule. normalised: outputs are divided by what the same recurrence
    makes of values of 1, kept as the state's last column. skip adds skip_h v_t to the output.
    """

    query: Float[Tensor, "batch heads length d_k"]
    key: Float[Tensor, "batch heads length d_k"]
    value: Float[Tensor, "batch heads length d_v"]
    log_decay: Float[Tensor, "batch heads length #d_k"]
    strength: Float[Tensor, "batch heads length"]
    scale: float = 1.0
    erases: bool = False
    normalised: bool = False
    skip: Float[Tensor, " heads"] | None = None

    @property
    def values(self) -> Float[Tensor, "batch heads length columns"]:
        """The values, with the normaliser's column of ones where there is one."""
        if not self.normalised:
            return self.value
        return torch.cat([self.value, torch.ones_like(self.value[..., :1])], dim=-1)

    def start(self, initial_state: Tensor | None) -> Float[Tensor, "batch heads d_k columns"]:
        """S_0: as given, or empty."""
        shape = (*self.key.shape[:2], self.key.shape[-1], self.values.shape[-1])
        return self.key.new_zeros(shape) if initial_state is None else initial_state.to(self.key)

    def finish(
        self, read: Float[Tensor, "batch heads length columns"]
    ) -> Float[Tensor, "batch heads length d_v"]:
        """From what was read to the output: normalised, and the skip added."""
        output = read[..., :-1] / read[..., -1:] if self.normalised else read
        return output if self.skip is None else output + self.skip[:, None, None] * self.value

    def wide(self) -> Recurrence:
        """In float32 at least: a state adds up too many small writes for half precision."""
        if self.query.dtype not in (torch.float16, torch.bfloat16):
            return self
        tensors = {field.name: getattr(self, field.name) for field in fields(self)}
        changed = {word: t.float() for word, t in tensors.items() if isinstance(t, Tensor)}
        return replace(self, **changed)


@dataclass(frozen=True)
class Walk:
    """What a recurrence did, token by token; of the states only their norms and the last."""

    output: Float[Tensor, "batch heads length d_v"]
    written: Float[Tensor, "batch heads length columns"]  # u_t
    erased: Float[Tensor, "batch heads length columns"]  # the part of u_t that the state held
    state_norm: Float[Tensor, "batch heads length"]  # Frobenius
    state: Float[Tensor, "batch heads d_k columns"]  # S_T


def recur(recurrence: Recurrence, initial_state: Tensor | None = None) -> Walk:
    """Walk through the tokens: decay, look up, write, read."""
    r = recurrence
    S = r.start(initial_state)  # (B, H, d_k, d_v)
    reads, written, erased, norms = [], [], [], []
    for t in range(r.key.shape[2]):
        q, k, v = r.query[:, :, t], r.key[:, :, t], r.values[:, :, t]
        beta = r.strength[:, :, t, None]
        S = r.log_decay[:, :, t, :, None].exp() * S
        held = (k[..., None] * S).sum(-2) if r.erases else torch.zeros_like(v)  # S^T k
        u = beta * (v - held)
        S = S + k[..., :, None] * u[..., None, :]
        reads.append(r.scale * (q[..., None] * S).sum(-2))  # after the write
        written.append(u)
        erased.append(beta * held)
        norms.append(S.norm(dim=(-2, -1)))
    return Walk(
        output=r.finish(torch.stack(reads, dim=2)),
        written=torch.stack(written, dim=2),
        erased=torch.stack(erased, dim=2),
        state_norm=torch.stack(norms, dim=2),
        state=S,
    )


def until(recurrence: Recurrence, n_tokens: int) -> Recurrence:
    """The same recurrence over the first tokens only."""
    return between(recurrence, slice(0, n_tokens))


def between(recurrence: Recurrence, tokens: slice) -> Recurrence:
    """What drives the state at these tokens only."""
    r = recurrence
    return replace(
        r,
        query=r.query[:, :, tokens],
        key=r.key[:, :, tokens],
        value=r.value[:, :, tokens],
        log_decay=r.log_decay[:, :, tokens],
        strength=r.strength[:, :, tokens],
    )

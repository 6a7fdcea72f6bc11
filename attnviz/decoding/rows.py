"""The attention of a decoding step: a row of each head's map, placed at its absolute position."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Float32
from torch import Tensor, nn

from attnviz.errors import ModelError
from attnviz.models.library import alone

with alone():
    from transformers.integrations.sdpa_attention import sdpa_attention_forward


@dataclass
class Rows:
    """Listens to a run (models.interface.Listener) and keeps what its rows are made of.

    Between steps `take` turns the queries and keys of the last one into weights: the clock of
    a step does not see it.
    """

    calls: list[tuple[Tensor, Tensor, Tensor | None, float]] = field(default_factory=list)

    def attend(
        self,
        module: nn.Module,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        mask: Tensor | None,
        **options: Any,
    ) -> Tensor:
        """SDPA's own output, (B, T_q, H, D_v)."""
        unusual = [
            n for n in ("softcap", "s_aux", "sinks", "position_bias") if options.get(n) is not None
        ]
        if unusual:
            raise ModelError(
                f"{type(module).__name__} uses {', '.join(unusual)}, which the decoding page does "
                "not follow; choose a model of the Llama, Qwen or Mistral kind."
            )
        scale = options.get("scaling")
        factor = query.shape[-1] ** -0.5 if scale is None else float(scale)
        self.calls.append((query, key, mask, factor))
        output, _ = sdpa_attention_forward(module, query, key, value, mask, **options)
        return output

    def take(self) -> list[Float[Tensor, "heads queries keys"]]:
        """The weights of each layer in the last run; keys are the last ones of the text."""
        taken = [_weights(*call) for call in self.calls]
        self.calls.clear()
        return taken


def _weights(
    query: Tensor, key: Tensor, mask: Tensor | None, scale: float
) -> Float[Tensor, "heads queries keys"]:
    G, H = key.shape[1], query.shape[1]
    keys = key[0].repeat_interleave(H // G, 0).float()  # (H, T_k, d)
    scores = scale * query[0].float() @ keys.transpose(1, 2)  # (H, T_q, T_k)
    if mask is not None:
        table = mask[0].expand_as(scores)
        hidden = ~table if table.dtype == torch.bool else table < torch.finfo(table.dtype).min / 2
        scores = scores.masked_fill(hidden, float("-inf"))
    elif query.shape[2] > 1:  # a plainly causal prompt
        T_q, T_k = scores.shape[1:]
        future = torch.ones(T_q, T_k, dtype=torch.bool, device=scores.device).triu(T_k - T_q + 1)
        scores = scores.masked_fill(future, float("-inf"))
    return scores.softmax(-1)


class Stitched:
    """Every layer's and head's map, growing a few rows a step."""

    def __init__(self, longest: int) -> None:
        self.length = 0
        self._longest = longest
        self._maps: Float32[np.ndarray, "layers heads queries keys"] | None = None

    def add(self, rows: list[Float[Tensor, "heads queries keys"]]) -> None:
        """The rows of the next tokens. A windowed layer gives its last keys only."""
        n = rows[0].shape[1]
        end = self.length + n
        if self._maps is None:
            shape = (len(rows), rows[0].shape[0], self._longest, self._longest)
            self._maps = np.zeros(shape, np.float32)
        for layer, weights in enumerate(rows):
            n_keys = weights.shape[2]
            self._maps[layer, :, self.length : end, end - n_keys : end] = weights.cpu().numpy()
        self.length = end

    @property
    def maps(self) -> Float32[np.ndarray, "layers heads queries keys"]:
        """What is known so far."""
        assert self._maps is not None
        return self._maps[:, :, : self.length, : self.length]

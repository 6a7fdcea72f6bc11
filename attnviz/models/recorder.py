"""Turns the attention calls of one run into layer records, overviews and metrics."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from attnviz.errors import ModelError
from attnviz.models.check import LayerCheck, check_layer
from attnviz.models.layer import Layer
from attnviz.models.layers import LayerRecord
from attnviz.models.library import alone
from attnviz.models.mask_rule import MaskRule, rule_of
from attnviz.models.progress import Progress
from attnviz.models.spill import Spill
from attnviz.models.stream import Streamed, stream

with alone():
    from transformers.integrations.sdpa_attention import sdpa_attention_forward

CHOOSES_KEYS = ("indices", "block_indices")


@dataclass(frozen=True)
class Call:
    """One attention call of the run."""

    module: nn.Module
    index: int | None  # the layer number in the module's name
    streamed: Streamed  # on the CPU
    check: LayerCheck


class Recorder:
    """Listens to a run (interface.Listener); its calls are in the order of the layers."""

    def __init__(
        self,
        model: nn.Module,
        *,
        overview_size: int,
        expected: int,
        progress: Progress | None = None,
    ) -> None:
        self.calls: list[Call] = []
        self._names = {module: name for name, module in model.named_modules()}
        self._size = overview_size
        self._expected = max(1, expected)
        self._progress = progress
        self._done = 0
        self.spill = Spill()
        self._rules: dict[tuple[int, bool, int | None], tuple[Tensor, MaskRule]] = {}

    def attend(
        self,
        module: nn.Module,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        mask: Tensor | None,
        **options: Any,
    ) -> Tensor:
        """Record one call and return its output, (B, T_q, H, D_v)."""
        record = self._record(module, query, key, mask, options)
        by_blocks = record.softcap is not None or record.sinks is not None
        # SDPA knows neither soft-capping nor sinks; there the blocks give the output too.
        streamed = stream(record, self._size, value[0] if by_blocks else None)
        if streamed.output is None:
            output, _ = sdpa_attention_forward(module, query, key, value, mask, **options)
        else:
            output = streamed.output.transpose(0, 1)[None].contiguous()
        check = check_layer(streamed.record, value[0], output[0].transpose(0, 1), mask)
        self.calls.append(
            Call(
                module,
                record.layer.index,
                replace(
                    streamed,
                    record=self._kept(streamed.record),
                    overview=streamed.overview.cpu(),
                    output=None,
                ),
                check,
            )
        )
        self.advance()
        return output

    def _kept(self, record: LayerRecord) -> LayerRecord:
        """The record on the CPU, what is long of it in memory or in a file."""
        own = record.to("cpu")
        keep = self.spill.keep
        return replace(own, queries=keep(own.queries), keys=keep(own.keys))

    def advance(self) -> None:
        """One more layer is done; whoever waits may leave here."""
        self._done = min(self._done + 1, self._expected)
        if self._progress is not None:
            self._progress(self._done / self._expected, f"Layer {self._done} of {self._expected}")

    def _record(
        self,
        module: nn.Module,
        query: Tensor,
        key: Tensor,
        mask: Tensor | None,
        options: dict[str, Any],
    ) -> LayerRecord:
        name = self._names.get(module, type(module).__name__)
        index = layer_number(name)
        where = f"Layer {len(self.calls) if index is None else index} ({type(module).__name__})"
        for word in CHOOSES_KEYS:
            if options.get(word) is not None:
                raise ModelError(
                    f"{where} chooses its keys by an index of its own, which cannot be shown "
                    "yet; choose a model without sparse attention."
                )
        if query.shape[0] != 1 or query.shape[2] != key.shape[2]:
            raise ModelError(
                f"{where} attends from {query.shape[2]} queries to {key.shape[2]} keys in a "
                f"batch of {query.shape[0]}; expected one text attending to itself, so choose a "
                "model with self-attention only."
            )
        bias, softcap = options.get("position_bias"), options.get("softcap")
        sinks = options.get("s_aux")
        if sinks is None:
            sinks = options.get("sinks")
        if bias is not None and softcap is not None:
            raise ModelError(
                f"{where} has both a position bias and soft-capping, whose order is not known "
                "here; choose a model with one of them."
            )
        scale = options.get("scaling")
        causal = options.get("is_causal")
        causal = bool(getattr(module, "is_causal", True) if causal is None else causal)
        window = options.get("sliding_window")
        rule, added = self._rule(mask, causal, window, query.shape[2])
        sliding = rule.window or (
            window if mask is None and (window or 0) >= query.shape[2] else None
        )
        return LayerRecord(
            layer=Layer(
                index=-1 if index is None else index,
                kind=_kind(module, rule, sliding),
                mixer=type(module).__name__,
                n_heads=query.shape[1],
                n_kv_heads=key.shape[1],
                window=sliding,
                sinks=sinks is not None,
                softcap=softcap,
            ),
            queries=_own(query[0]),
            keys=_own(key[0]),
            scale=query.shape[-1] ** -0.5 if scale is None else float(scale),
            rule=rule,
            bias=None if bias is None else bias[0].detach(),
            added=added,
            softcap=softcap,
            sinks=None if sinks is None else sinks.detach().reshape(-1),
        )

    def _rule(
        self, mask: Tensor | None, causal: bool, window: int | None, length: int
    ) -> tuple[MaskRule, Tensor | None]:
        """The mask as a rule, and the finite part of an additive one."""
        if mask is None:
            return MaskRule(causal=causal), None
        added = None
        table = mask[0].expand(-1, length, -1)  # (1 or H, T_q, T_k)
        if table.dtype != torch.bool:
            allowed = table > torch.finfo(table.dtype).min / 2
            rest = table.masked_fill(~allowed, 0.0)
            added, table = (rest if bool(rest.any()) else None), allowed
        key = (id(mask), causal, window)
        if key not in self._rules:  # layers share mask tensors; the tensor is kept with its id
            self._rules[key] = (mask, rule_of(table, causal, window))
        return self._rules[key][1], added


def _kind(module: nn.Module, rule: MaskRule, window: int | None) -> str:
    """full, sliding, sparse (a pattern of another shape) or latent (MLA)."""
    if window is not None:
        return "sliding"
    if rule.table is not None:
        return "sparse"
    return "latent" if getattr(module, "kv_lora_rank", None) else "full"


def layer_number(name: str) -> int | None:
    """The layer's number in a module's name: 3 for model.layers.3.self_attn."""
    found = re.search(r"\.(\d+)\.", f".{name}.")
    return int(found[1]) if found else None


def _own(tensor: Tensor) -> Tensor:
    """A tensor that keeps nothing but itself alive: not a fused projection, not a graph."""
    tensor = tensor.detach().contiguous()
    alone = tensor.untyped_storage().nbytes() == tensor.nbytes
    return tensor if alone else tensor.clone()

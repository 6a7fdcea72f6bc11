"""Turns the attention calls of one run into layer records, overviews and metrics."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from attnviz.errors import ModelError
from attnviz.models.check import LayerCheck, check_layer, check_map
from attnviz.models.kept_map import kept, summarised
from attnviz.models.layer import Layer
from attnviz.models.layers import LayerRecord
from attnviz.models.library import alone
from attnviz.models.mask_rule import MaskRule, among, rule_of
from attnviz.models.own_code.raw import Raw, direct
from attnviz.models.progress import Progress
from attnviz.models.spill import Spill
from attnviz.models.stacks import group_of, layer_number, role_of
from attnviz.models.stream import Streamed, stream

with alone():
    from transformers.integrations.sdpa_attention import sdpa_attention_forward

ATTENDS = re.compile(r"att", re.IGNORECASE)
HEADS = ("num_attention_heads", "num_heads", "n_heads", "n_head", "num_attn_heads")


class Unreachable(ModelError):
    """Attention that the interface shows in a form that has no queries by keys of one text."""


@dataclass(frozen=True)
class Call:
    """One attention call of the run."""

    module: nn.Module
    index: int | None  # the layer number in the module's name
    group: str  # the stack that it belongs to
    role: str  # its place in the layer: self_attn
    turn: int  # how often this module had been called under this name before
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
        raw_only: bool = False,
    ) -> None:
        self.calls: list[Call] = []
        self._names: dict[nn.Module, list[str]] = {}  # a shared layer stands in several places
        for name, module in model.named_modules(remove_duplicate=False):
            self._names.setdefault(module, []).append(name)
        self._seen: Counter[nn.Module] = Counter()
        self._two_stacks = bool(getattr(model.config, "is_encoder_decoder", False))
        self._raw_only = raw_only  # a family's own code puts the softmaxes in their places
        self.raw: list[Raw] = []
        self.busy = False  # computing something itself, which is not the model's
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
        self.busy = True
        try:
            return self._attend(module, query, key, value, mask, options)
        finally:
            self.busy = False

    def keep(self, module: nn.Module, weights: Tensor) -> None:
        """Record one softmax that a model's own code made."""
        names = self._names.get(module, [""])
        if not ATTENDS.search(f"{names[0]} {type(module).__name__}"):
            return  # a router of experts, for one
        self.busy = True
        try:
            self._keep(module, weights)
        finally:
            self.busy = False

    def _keep(self, module: nn.Module, weights: Tensor) -> None:
        maps = None if self._raw_only else direct(weights)
        if maps is None or not self._plausible(module, maps):
            name = self._names[module][0]
            group, index = group_of(name, self._two_stacks), layer_number(name)
            self.raw.append(Raw(module, name, index, group, weights.detach().cpu()))
            return
        name, turn = self._place(module)
        group, index = group_of(name, self._two_stacks), layer_number(name)
        square = maps.shape[1] == maps.shape[2]
        causal = square and maps.shape[1] > 1 and not bool(maps.triu(1).any())
        layer = Layer(
            index=-1 if index is None else index,
            kind="cross" if group == "cross" else "full",
            mixer=type(module).__name__,
            n_heads=maps.shape[0],
            n_kv_heads=maps.shape[0],
        )
        record = kept(layer, maps, MaskRule(causal=causal))
        check = check_map(record)
        done = summarised(record, self._size)
        self._add(Call(module, index, group, role_of(name), turn, done, check))

    def _add(self, call: Call) -> None:
        self.calls.append(call)
        self.advance()

    def advance(self) -> None:
        """One more layer is done; whoever waits may leave here."""
        self._done = min(self._done + 1, self._expected)
        if self._progress is not None:
            self._progress(self._done / self._expected, f"Layer {self._done} of {self._expected}")

    def _plausible(self, module: nn.Module, maps: Tensor) -> bool:
        """Whether these are this module's heads, and lengths of what it reads."""
        heads = {getattr(module, name, None) for name in HEADS} - {None}
        return maps.shape[0] in heads if heads else True

    def _attend(
        self,
        module: nn.Module,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        mask: Tensor | None,
        options: dict[str, Any],
    ) -> Tensor:
        name, turn = self._place(module)
        group = group_of(name, self._two_stacks)
        if (chosen := options.pop("indices", None)) is not None:
            mask = among(chosen, mask, query.shape[2], key.shape[2])
        record = self._record(module, name, group, query, key, mask, options)
        by_blocks = record.softcap is not None or record.sinks is not None
        # SDPA knows neither soft-capping nor sinks; there the blocks give the output too.
        streamed = stream(record, self._size, value[0] if by_blocks else None)
        if streamed.output is None:
            output, _ = sdpa_attention_forward(module, query, key, value, mask, **options)
        else:
            output = streamed.output.transpose(0, 1)[None].contiguous()
        check = check_layer(streamed.record, value[0], output[0].transpose(0, 1), mask)
        done = replace(
            streamed,
            record=self.spill.record(streamed.record),
            overview=streamed.overview.cpu(),
            output=None,
        )
        self._add(Call(module, layer_number(name), group, role_of(name), turn, done, check))
        return output

    def _place(self, module: nn.Module) -> tuple[str, int]:
        """(the name under which this module is called now, its earlier calls by that name)."""
        names = self._names.get(module, [type(module).__name__])
        turn, place = divmod(self._seen[module], len(names))
        self._seen[module] += 1
        return names[place], turn

    def _record(
        self,
        module: nn.Module,
        name: str,
        group: str,
        query: Tensor,
        key: Tensor,
        mask: Tensor | None,
        options: dict[str, Any],
    ) -> LayerRecord:
        index = layer_number(name)
        where = f"Layer {len(self.calls) if index is None else index} ({type(module).__name__})"
        if options.get("block_indices") is not None:
            raise ModelError(
                f"{where} chooses its keys by blocks of an index of its own, which cannot be shown "
                "yet; choose another model."
            )
        if query.ndim != 4 or query.shape[0] != 1:
            raise Unreachable(
                f"{where} attends in {query.shape[0]} parts at once; expected one text attending "
                "as a whole, so choose another model."
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
        # With one query SDPA sees all keys: that query is the newest.
        causal = causal and query.shape[2] > 1
        rule, added = self._rule(mask, causal, window, query.shape[2])
        sliding = rule.window or (
            window if mask is None and (window or 0) >= query.shape[2] else None
        )
        return LayerRecord(
            layer=Layer(
                index=-1 if index is None else index,
                kind="cross" if group == "cross" else _kind(module, rule, sliding),
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
            sinks=None if sinks is None else sinks.detach().reshape(query.shape[1], -1),
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


def _own(tensor: Tensor) -> Tensor:
    """A tensor that keeps nothing but itself alive: not a fused projection, not a graph."""
    tensor = tensor.detach().contiguous()
    alone = tensor.untyped_storage().nbytes() == tensor.nbytes
    return tensor if alone else tensor.clone()

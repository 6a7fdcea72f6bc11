"""From the maps of one run to the Capture that the pages read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from torch import Tensor

from attnviz.models.axis import Axis
from attnviz.models.captures import Capture
from attnviz.models.check import CheckResult, LayerCheck, check_map
from attnviz.models.kept_map import kept, summarised
from attnviz.models.layer import Layer
from attnviz.models.loaded import LoadedModel
from attnviz.models.mask_rule import MaskRule, rule_of
from attnviz.models.mixers.recorder import MixerRecorder
from attnviz.models.numbering import absent, numbered
from attnviz.models.own_code import POOLED, Found
from attnviz.models.pooling import stacked
from attnviz.models.prepared import Prepared
from attnviz.models.recorder import Call
from attnviz.models.stream import Streamed


@dataclass(frozen=True)
class Stack:
    """One group of maps, all of one shape."""

    streamed: dict[int, Streamed]  # by layer
    checks: tuple[LayerCheck, ...]
    axes: tuple[Axis, Axis] | None = None
    note: str = ""


def recorded_stacks(model: LoadedModel, calls: Sequence[Call]) -> dict[str, Stack]:
    """What the interface heard, by group."""
    return {
        group: Stack(
            {number: call.streamed for number, call in own.items()},
            tuple(call.check for call in own.values()),
        )
        for group, own in numbered(model, calls).items()
    }


def kept_stacks(model: LoadedModel, found: Sequence[Found], size: int) -> dict[str, Stack]:
    """What a model's own code returned, by group; a further shape is a further stage."""
    stacks: dict[str, Stack] = {}
    shapes: dict[str, tuple[int, int]] = {}
    for one in found:
        shape = (one.maps.shape[1], one.maps.shape[2])
        place, name = 1, one.group
        while shapes.setdefault(name, shape) != shape:
            place += 1
            name = f"{one.group} stage {place}"
        causal = model.kind == "decoder" and shape[0] == shape[1] and one.group == "self"
        rule = _rule(one, causal or one.group == "decoder")
        layer = Layer(
            index=one.index,
            kind=_kind(one, rule),
            mixer=model.model.config.model_type,
            n_heads=one.maps.shape[0],
            n_kv_heads=one.maps.shape[0],
        )
        record = kept(layer, one.maps, rule)
        old = stacks.get(name, Stack({}, (), one.axes, one.note))
        own = LayerCheck(one.error, 0.0, 0.0, softmax=False)
        stacks[name] = replace(
            old,
            streamed=old.streamed | {one.index: summarised(record, size)},
            checks=(*old.checks, own if one.effective else check_map(record, one.row_limit)),
        )
    return stacks


def _kind(one: Found, rule: MaskRule) -> str:
    if one.effective:
        return "mixing"
    if one.group == "cross":
        return "cross"
    return "full" if rule.table is None else "sparse"


def _rule(one: Found, causal: bool) -> MaskRule:
    """The mask: what the family says, or the causal one where nothing lies ahead."""
    if one.allowed is not None:
        return rule_of(one.allowed, causal, None)
    square = one.maps.shape[1] == one.maps.shape[2]
    if causal and square and not bool(one.maps.triu(1).any()):
        return MaskRule(causal=True)
    return MaskRule(causal=False)


def assembled(
    model: LoadedModel,
    prepared: Prepared,
    stacks: Mapping[str, Stack],
    mixers: MixerRecorder,
    verdict: CheckResult,
    last: Tensor | None,
) -> Capture:
    """The capture of the first group, with the others as its parts.

    A model without any attention still has its linear and state-space layers.
    """
    captures = {
        group: _one(model, prepared, group, stack, mixers, verdict, last)
        for group, stack in (stacks or {"self": Stack({}, ())}).items()
    }
    first, *others = captures
    return replace(captures[first], parts={group: captures[group] for group in others})


def _sides(
    model: LoadedModel, prepared: Prepared, group: str, shape: tuple[int, int]
) -> tuple[Axis, Axis]:
    pooled = POOLED.get(model.config.model_type)
    if pooled is not None:
        return pooled(model.config, prepared.axes["self"], *shape)
    return prepared.sides(group, *shape)


def _one(
    model: LoadedModel,
    prepared: Prepared,
    group: str,
    stack: Stack,
    mixers: MixerRecorder,
    verdict: CheckResult,
    last: Tensor | None,
) -> Capture:
    records = {number: each.record for number, each in stack.streamed.items()}
    layers = [record.layer for record in records.values()]
    length = prepared.length
    first = next(iter(records.values()), None)
    shape = (length, length) if first is None else (first.n_queries, first.n_keys)
    rows, cols = stack.axes or _sides(model, prepared, group, shape)
    effective = mixers.records() if group == "self" else {}
    if group == "self" and model.kind in ("decoder", "encoder"):
        layers += [record.layer for record in effective.values()]
        layers += absent(model, records, effective, mixers.refused)
    streamed = stack.streamed.values()
    return Capture(
        model_name=model.name,
        text=prepared.text,
        tokens=rows.labels,
        token_details=rows.details,
        token_ids=rows.ids,
        special=rows.special,
        layers=tuple(sorted(layers, key=lambda layer: layer.index)),
        check=verdict,
        notes=model.notes,
        device=str(model.device),
        dtype=str(model.dtype).removeprefix("torch."),
        records=records,
        pooled=stacked([each.overview.float().numpy() for each in streamed], 4),
        numbers=stacked([each.metrics.float().numpy() for each in streamed], 3),
        probabilities=None if last is None else last.softmax(-1).numpy(),
        tokenizer=model.tokenizer,
        group=group,
        keys=None if cols == rows else cols,
        roles=rows.roles,
        grid=rows.grid,
        patch=rows.patch,
        image=prepared.image,
        note=stack.note,
        mixers=effective,
    )

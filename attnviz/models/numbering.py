"""Which layer of the model each recorded call was, and which layers never called."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import torch

from attnviz.models.kept_map import KeptMap
from attnviz.models.layer import Layer
from attnviz.models.layers import LayerRecord
from attnviz.models.loaded import LoadedModel
from attnviz.models.recorder import Call
from attnviz.models.stacks import TOWERS, layer_number

# Mixers by the names of their classes; what no pattern knows is listed as "none".
KINDS = (
    ("state_space", re.compile(r"Mamba|SSM|StateSpace|FalconH1Mixer")),
    (
        "linear",
        re.compile(r"Delta|Linear\w*Attention|Lightning|Retention|GatedLinear|RecurrentBlock"),
    ),
    ("none", re.compile(r"Conv|Hyena|Attention|Mixer")),
)
UNREACHED = {
    "state_space": "it is a state-space layer whose kernel is not known here",
    "linear": "it is a linear-attention layer whose kernel is not known here",
    "none": "it does not use transformers' attention interface",
}


def numbered(model: LoadedModel, calls: Sequence[Call]) -> dict[str, dict[int, Call]]:
    """The recorded calls by group and true layer number.

    A layer's number is in its module's name; where names number stages and layers in them, the
    calls are counted in order, as are layers that share one module (ALBERT). A module that
    attends twice from the same queries to the same keys (DiffLlama, for two halves of the
    values) has one map; one that is called again with others (a loop over layers) has its later
    maps in the groups "pass 2", "pass 3". A second kind of attention in the same layers is a
    group by its own name. Maps of one group have one shape: where a model pools, each further
    shape is a group "stage 2", "stage 3". What sees pictures for a model of texts is a group
    "vision", behind the text's own; where nothing else was heard it is the model.
    """
    found: dict[str, dict[int, Call]] = {}
    heard = list(dict.fromkeys(call.group for call in calls))
    if len(heard) == 1 and heard[0] in TOWERS:
        calls, heard = [replace(call, group="self") for call in calls], ["self"]
    for group in sorted(heard, key=lambda group: group in TOWERS):
        own = [call for call in calls if call.group == group]
        distinct = [
            call for place, call in enumerate(own) if not place or not _again(own[place - 1], call)
        ]
        for name, some in _named(model, group, distinct).items():
            for number, call in sorted(some.items()):
                found.setdefault(_stage(found, name, call), {})[number] = replace(
                    call, streamed=replace(call.streamed, record=_numbered(call, number))
                )
    return found


def _named(model: LoadedModel, group: str, calls: Sequence[Call]) -> dict[str, dict[int, Call]]:
    """These calls of one stack by pass or role, and by layer number."""
    turns = sorted({call.turn for call in calls})
    if len(turns) > 1 and len(calls) == model.n_layers:
        return {group: dict(enumerate(calls))}  # one module in the place of every layer
    by_name: dict[str, dict[int, Call]] = {}
    for turn in turns:
        own = [call for call in calls if call.turn == turn]
        roles = [role for role, _ in Counter(call.role for call in own).most_common()]
        numbers = [call.index for call in own]
        if None not in numbers and len(set(numbers)) == len(numbers):
            roles = [""]  # one attention a layer, whatever it is called
        for place, role in enumerate(roles):
            some = [call for call in own if not role or call.role == role]
            name = group if not place else role
            name = name if not turn else f"pass {turn + 1}" + (f" {role}" if place else "")
            numbers = [call.index for call in some]
            if None in numbers or len(set(numbers)) != len(numbers):
                by_name[name] = dict(enumerate(some))
            else:
                by_name[name] = {call.index: call for call in some if call.index is not None}
    return by_name


def _stage(found: dict[str, dict[int, Call]], name: str, call: Call) -> str:
    """The group for a call's shape: the one of that name, or a further stage of it."""
    record = call.streamed.record
    place = 1
    while True:
        stage = name if place == 1 else f"{name} stage {place}"
        first = next(iter(found.get(stage, {}).values()), None)
        if first is None or (
            (first.streamed.record.n_queries, first.streamed.record.n_keys)
            == (record.n_queries, record.n_keys)
        ):
            return stage
        place += 1


def complete(model: LoadedModel, calls: Sequence[Call]) -> bool:
    """Whether these calls leave no stack out: one of them may have attention code of its own."""
    heard = {call.group for call in calls}
    if model.kind != "vision" and heard <= set(TOWERS):
        return False  # what sees, and not what reads
    two = getattr(model.config, "is_encoder_decoder", False)
    return {"encoder", "decoder"} <= heard if two else bool(heard)


def absent(
    model: LoadedModel,
    present: Mapping[int, LayerRecord],
    effective: Collection[int] = (),
    refused: Mapping[int, str] = MappingProxyType({}),
) -> Iterator[Layer]:
    """The mixers that never called: layers without softmax attention, or beside it.

    effective: the layers whose linear or state-space mixer was captured; refused: why others
    were not.
    """
    mixers: dict[int, list[tuple[str, str]]] = {}
    for name, module in model.model.named_modules():
        number = layer_number(name)
        if number is None or re.search(rf"\.{number}\.[^.]+$", f".{name}") is None:
            continue  # only the direct parts of a layer
        if present and any(tower.search(name) for tower in TOWERS.values()):
            continue  # of another stack
        word = type(module).__name__
        if "Norm" in word:
            continue
        kind = next((k for k, pattern in KINDS if pattern.search(word)), None)
        known = number in effective or (
            number in present and (kind == "none" or word == present[number].layer.mixer)
        )
        if kind is not None and not known:
            mixers.setdefault(number, []).append((kind, word))
    for number in range(model.n_layers):
        own = mixers.get(number, [])
        if number not in present and number not in effective and not own:
            own = [("none", "unknown")]
        for kind, mixer in own:
            yield Layer(
                index=number,
                kind=kind,
                mixer=mixer,
                n_heads=0,
                n_kv_heads=0,
                captured=False,
                reason=refused.get(number) or UNREACHED[kind],
            )


def _again(before: Call, call: Call) -> bool:
    a, b = before.streamed.record, call.streamed.record
    if isinstance(a, KeptMap) or isinstance(b, KeptMap):
        return False
    return (
        before.module is call.module
        and torch.equal(a.queries, b.queries)
        and torch.equal(a.keys, b.keys)
    )


def _numbered(call: Call, number: int) -> LayerRecord:
    record = call.streamed.record
    return replace(record, layer=replace(record.layer, index=number))

"""Which layer of the model each recorded call was, and which layers never called."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import torch

from attnviz.errors import ModelError
from attnviz.models.layer import Layer
from attnviz.models.layers import LayerRecord
from attnviz.models.loaded import LoadedModel
from attnviz.models.recorder import Call, layer_number

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


def numbered(model: LoadedModel, calls: Sequence[Call]) -> dict[int, Call]:
    """The recorded calls by true layer number.

    A layer's number is in its module's name. Layers that share one module (ALBERT) are counted
    in order. A module that attends twice from the same queries to the same keys (DiffLlama, for
    two halves of the values) has one map. Anything else is refused.
    """
    distinct = [
        call for place, call in enumerate(calls) if not place or not _again(calls[place - 1], call)
    ]
    numbers = [call.index for call in distinct]
    if None not in numbers and len(set(numbers)) == len(numbers):
        found = {call.index: call for call in distinct if call.index is not None}
    elif len(distinct) == model.n_layers:
        found = dict(enumerate(distinct))
    else:
        raise ModelError(
            f"{model.title} attends {len(distinct)} times in {model.n_layers} layers, and which "
            "map belongs to which layer is not known; choose another model."
        )
    return {
        number: replace(call, streamed=replace(call.streamed, record=_numbered(call, number)))
        for number, call in sorted(found.items())
    }


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
    return (
        before.module is call.module
        and torch.equal(a.queries, b.queries)
        and torch.equal(a.keys, b.keys)
    )


def _numbered(call: Call, number: int) -> LayerRecord:
    record = call.streamed.record
    return replace(record, layer=replace(record.layer, index=number))

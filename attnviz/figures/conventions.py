"""One mask as each library writes it, and what each makes of a query with no key."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import attnviz as av
from attnviz.errors import AttnvizError
from attnviz.figures.vega import Spec

SHOWN = 10
"""Rows and columns of a convention's table: beyond this, its words would not be legible."""


@dataclass(frozen=True)
class Convention:
    """A mask in one library's writing: as a chart, or a sentence on why it cannot be written so."""

    name: str
    taken_by: str
    chart: Spec | None
    problem: str = ""


def conventions(trace: av.Trace) -> tuple[Convention, ...]:
    """The mask of a run in every convention, converted for real; example 0, head 0."""
    from attnviz import masks

    n_queries, n_keys = len(trace.query_tokens), len(trace.key_tokens)
    allowed = masks.bidirectional().allowed(n_queries, n_keys)
    if trace.allowed is not None:
        allowed = trace.allowed[:1, :1].cpu()
    whole = (
        (
            "Boolean, True keeps",
            "scaled_dot_product_attention(attn_mask=...), and attnviz inside",
            masks.to_sdpa(allowed),
        ),
        (
            "Boolean, True blocks",
            "nn.MultiheadAttention: attn_mask",
            masks.to_multihead(allowed)[None, None],
        ),
        (
            "0 / 1",
            "papers; transformers' attention_mask, one row per example",
            masks.to_zero_one(allowed),
        ),
        (
            "Additive, 0 / −∞",
            "scaled_dot_product_attention(attn_mask=...), the formula",
            masks.to_additive(allowed),
        ),
    )
    shown = [
        Convention(name, taken_by, _chart(name, mask[0, 0], allowed[0, 0]))
        for name, taken_by, mask in whole
    ]
    name, taken_by = "Key padding, True blocks", "nn.MultiheadAttention: key_padding_mask"
    try:
        padding = masks.to_key_padding(allowed)
    except AttnvizError as problem:
        return (*shown, Convention(name, taken_by, None, str(problem)))
    chart = _chart(name, padding, allowed[0, 0, :1])
    return (*shown, Convention(name, taken_by, chart))


# Cells bring their own ground, so that their words are legible on any page: (ground, ink).
_ALLOWED, _BLOCKED = ("#f4f5f7", "#1d2530"), ("#5f6772", "#ffffff")


def _chart(name: str, mask: Any, allowed: Any) -> Spec:
    """A table of the mask's own entries, the blocked ones on dark ground in every convention."""
    entries = mask[:SHOWN, :SHOWN].tolist()
    open_ = allowed[:SHOWN, :SHOWN].tolist()
    rows = [
        {"query": query, "key": key, "entry": _word(entry), "ground": ground, "ink": ink}
        for query, line in enumerate(entries)
        for key, entry in enumerate(line)
        for ground, ink in [_ALLOWED if open_[query][key] else _BLOCKED]
    ]
    place = {"x": _position("key", {"labelAngle": 0}), "y": _position("query", {})}
    return {
        "title": name,
        "height": 300,
        "data": {"name": "cells"},
        "layer": [
            {
                "mark": {"type": "rect", "stroke": "#8c8c8c", "strokeWidth": 0.5},
                "encoding": place | {"color": _colour("ground")},
            },
            {
                "mark": {"type": "text", "fontSize": 12},
                "encoding": place
                | {"text": {"field": "entry", "type": "nominal"}, "color": _colour("ink")},
            },
        ],
        "datasets": {"cells": rows},
    }


def _position(axis: str, options: Spec) -> Spec:
    return {"field": axis, "type": "ordinal", "title": f"{axis} (position)", "axis": options}


def _colour(field: str) -> Spec:
    return {"field": field, "type": "nominal", "scale": None}


def _word(entry: float | bool) -> str:
    if isinstance(entry, bool):
        return "T" if entry else "F"
    return "−∞" if entry == float("-inf") else f"{entry:g}"

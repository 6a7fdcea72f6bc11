"""One mask as each library writes it, and what each makes of a query with no key."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import altair as alt
import pandas as pd

import attnviz as av
from attnviz.errors import AttnvizError

SHOWN = 10
"""Rows and columns of a convention's table: beyond this, its words would not be legible."""


@dataclass(frozen=True)
class Convention:
    """A mask in one library's writing: as a chart, or a sentence on why it cannot be written so."""

    name: str
    taken_by: str
    chart: alt.LayerChart | None
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
        Convention(name, taken_by, _chart(name, mask[0, 0], allowed[0, 0], trace))
        for name, taken_by, mask in whole
    ]
    name, taken_by = "Key padding, True blocks", "nn.MultiheadAttention: key_padding_mask"
    try:
        padding = masks.to_key_padding(allowed)
    except AttnvizError as problem:
        return (*shown, Convention(name, taken_by, None, str(problem)))
    chart = _chart(name, padding, allowed[0, 0, :1], trace)
    return (*shown, Convention(name, taken_by, chart))


def _chart(name: str, mask: Any, allowed: Any, trace: av.Trace) -> alt.LayerChart:
    rows = [
        {
            "query": query,
            "key": key,
            "entry": _word(mask[query, key].item()),
            "blocked": not bool(allowed[query, key]),
            "query token": trace.query_tokens[query],
            "key token": trace.key_tokens[key],
        }
        for query in range(min(SHOWN, mask.shape[0]))
        for key in range(min(SHOWN, mask.shape[1]))
    ]
    base = alt.Chart(pd.DataFrame(rows), title=name).encode(
        alt.X("key:O", title="key (position)", axis=alt.Axis(labelAngle=0)),
        alt.Y("query:O", title="query (position)"),
        tooltip=["query", "query token", "key", "key token", "entry"],
    )
    cells = base.mark_rect(stroke="#8c8c8c", strokeWidth=0.5).encode(
        # Cells bring their own ground, so that their words are legible on any page.
        color=alt.condition("datum.blocked", alt.value("#5f6772"), alt.value("#f4f5f7")),
    )
    words = base.mark_text(fontSize=12).encode(
        text="entry:N",
        color=alt.condition("datum.blocked", alt.value("#ffffff"), alt.value("#1d2530")),
    )
    return alt.LayerChart(layer=[cells, words], height=300)


def _word(entry: float | bool) -> str:
    if isinstance(entry, bool):
        return "T" if entry else "F"
    return "−∞" if entry == float("-inf") else f"{entry:g}"

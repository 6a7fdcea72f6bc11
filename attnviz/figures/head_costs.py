"""What heads cost: parameters and cache, counted from the tensors of finished runs."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import pandas as pd

import attnviz as av
from attnviz.figures import palette


def costs(traces: Sequence[av.Trace]) -> pd.DataFrame:
    """Parameters and cache of each run, counted from its own tensors.

    Columns: arrangement, n_kv_heads, parameters (numbers in W_q, W_k, W_v and W_o), cache (bytes
    per token and layer: the keys and values that decoding would keep).
    """
    rows = []
    for trace in traces:
        n_tokens = len(trace.key_tokens)
        kept = (trace["key_heads"].tensor[:1], trace["value_heads"].tensor[:1])
        rows.append(
            {
                "arrangement": arrangement(trace),
                "n_kv_heads": trace.dimensions["n_kv_heads"],
                "parameters": sum(matrix.numel() for matrix in trace.parameters.values()),
                "cache": sum(tensor.nbytes for tensor in kept) // n_tokens,
            }
        )
    return pd.DataFrame(rows).drop_duplicates("n_kv_heads", ignore_index=True)


def arrangement(trace: av.Trace) -> str:
    """What this number of key/value heads is called."""
    n_heads, n_kv_heads = trace.dimensions["n_heads"], trace.dimensions["n_kv_heads"]
    if n_kv_heads == n_heads:
        return f"MHA: {n_heads} KV heads"
    return "MQA: 1 KV head" if n_kv_heads == 1 else f"GQA: {n_kv_heads} KV heads"


def cost_charts(table: pd.DataFrame, dtype: str) -> tuple[alt.LayerChart, ...]:
    """Bars for parameters and for cache bytes, the arrangements beside each other."""
    return (
        _bars(table, "parameters", "Parameters of the layer", "numbers in W_q, W_k, W_v, W_o"),
        _bars(table, "cache", "Key/value cache", f"bytes per token and layer, {dtype}"),
    )


def _bars(table: pd.DataFrame, column: str, title: str, unit: str) -> alt.LayerChart:
    base = alt.Chart(table, title=title).encode(
        alt.X(f"{column}:Q", title=unit, axis=alt.Axis(format=",d")).scale(
            domainMax=max(table[column].tolist()) * 1.2
        ),
        alt.Y("arrangement:N", sort=None, title=None, axis=alt.Axis(labelLimit=200)),
    )
    bars = base.mark_bar(color=palette.ACCENTS["value"][0]).encode(
        tooltip=["arrangement", alt.Tooltip(column, format=",d")]
    )
    numbers = base.mark_text(align="left", dx=4, color="#767676").encode(
        text=alt.Text(f"{column}:Q", format=",d")
    )
    return alt.LayerChart(layer=[bars, numbers], height=160, title=title)

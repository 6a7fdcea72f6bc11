"""What heads cost: parameters and cache, counted from the tensors of finished runs."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

import attnviz as av
from attnviz.figures import palette
from attnviz.figures.vega import Spec, name, number


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


def formulas(trace: av.Trace) -> str:
    """Markdown: the two formulas with the numbers of a run in them."""
    d, H, G = (trace.dimensions[word] for word in ("d_model", "n_heads", "n_kv_heads"))
    d_k, d_v = trace.dimensions["head_dim"], trace.dimensions["v_head_dim"]
    size = trace["key_heads"].tensor.element_size()
    parameters = d * H * d_k + d * G * d_k + d * G * d_v + H * d_v * d
    cache = G * (d_k + d_v) * size
    return (
        rf"$$\underbrace{{d\,H d_k}}_{{W^Q}} + \underbrace{{d\,G d_k}}_{{W^K}} + "
        rf"\underbrace{{d\,G d_v}}_{{W^V}} + \underbrace{{H d_v\,d}}_{{W^O}} = "
        rf"{d}\cdot{H}\cdot{d_k} + {d}\cdot{G}\cdot{d_k} + {d}\cdot{G}\cdot{d_v} + "
        rf"{H}\cdot{d_v}\cdot{d} = {parameters:,}\ \text{{parameters}}$$"
        "\n\n"
        rf"$$G\,(d_k + d_v)\cdot\text{{bytes per number}} = {G}\,({d_k} + {d_v})\cdot{size} = "
        rf"{cache:,}\ \text{{bytes per token and layer}}$$"
    )


def cost_charts(table: pd.DataFrame, trace: av.Trace) -> tuple[Spec, ...]:
    """Bars for parameters and for cache bytes (in the dtype of the trace), a bar a run."""
    return (
        _bars(table, "parameters", "Parameters of the layer", "numbers in W_q, W_k, W_v, W_o"),
        _bars(table, "cache", "Key/value cache", f"bytes per token and layer, {trace.dtype}"),
    )


def _bars(table: pd.DataFrame, column: str, title: str, unit: str) -> Spec:
    place = {
        "x": number(
            column,
            unit,
            axis={"format": ",d", "tickCount": 4},
            scale={"domainMax": max(table[column].tolist()) * 1.2},
        ),
        "y": name("arrangement", sort=None, axis={"labelLimit": 200, "labelOverlap": False}),
    }
    figure = number(column, title, format=",d")
    return {
        "title": title,
        "height": 240,
        "data": {"name": "runs"},
        "layer": [
            {
                "mark": {"type": "bar", "color": palette.ACCENTS["value"][0]},
                "encoding": place | {"tooltip": figure},
            },
            {
                "mark": {"type": "text", "align": "left", "dx": 4, "color": "#767676"},
                "encoding": place | {"text": figure},
            },
        ],
        "datasets": {"runs": table.loc[:, ["arrangement", column]].to_dict(orient="records")},
    }

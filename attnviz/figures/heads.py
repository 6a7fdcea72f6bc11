"""Runs of multi-head, grouped-query and multi-query attention -> heads side by side, and costs."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np
import pandas as pd
from jaxtyping import Float32

import attnviz as av
from attnviz.figures import palette
from attnviz.figures.axes import key_axis, numbered_axis, query_axis
from attnviz.figures.figure import Figure, Grid, Panel


def kv_head_of(head: int, n_heads: int, n_kv_heads: int) -> int:
    """The key/value head that a query head reads: neighbours share (Ainslie et al. 2023)."""
    return head // (n_heads // n_kv_heads)


def heads_figure(trace: av.Trace, head: int = 0) -> Figure:
    """Every head's map of example 0 as a thumbnail over its key/value head, and one large."""
    maps = _numbers(trace.weights)  # (H, T_q, T_k)
    n_heads, n_kv_heads = trace.dimensions["n_heads"], trace.dimensions["n_kv_heads"]
    blocked = None
    if trace.allowed is not None:
        blocked = ~np.broadcast_to(trace.allowed[0, 0].cpu().numpy(), maps.shape[1:])
    return Figure(
        title=f"{n_heads} query heads on {n_kv_heads} key/value heads",
        alt=(
            f"Attention maps of {n_heads} query heads that share {n_kv_heads} key/value heads, "
            f"{n_heads // n_kv_heads} to each, on {maps.shape[1]} tokens."
        ),
        panels=(
            Panel(
                "weights",
                "Weights of one head",
                maps[head],
                query_axis(trace),
                key_axis(trace),
                blocked=blocked if blocked is not None and blocked.any() else None,
                subtitle="softmax weights, every row sums to 1",
                limit=1.0,
            ),
        ),
        grid=Grid(
            thumbnails=maps[None],
            layers=(0,),
            stack=maps[None],
            kv_heads=n_kv_heads,
        ),
        settings=(
            f"{n_heads} query heads, {n_kv_heads} key/value heads, "
            f"mask: {trace.options['mask']}, seed {trace.options['seed']}"
        ),
        file_stem="attnviz_heads",
    )


def similarity_figure(trace: av.Trace) -> Figure:
    """How alike the heads are: in the keys that they read, and in where they look."""
    from attnviz.metrics.similarity import between_heads, cosine

    n_heads, n_kv_heads = trace.dimensions["n_heads"], trace.dimensions["n_kv_heads"]
    rows = numbered_axis("head", "query head", n_heads)
    cols = numbered_axis("other_head", "query head", n_heads)
    keys = trace["key_heads"].tensor[0].float()  # (G, T_k, d)
    read = keys.repeat_interleave(n_heads // n_kv_heads, dim=0)  # (H, T_k, d)
    return Figure(
        title="How alike heads are",
        alt=(
            f"Two matrices over pairs of {n_heads} query heads: the cosine of the keys they read, "
            f"1 within a group, and the Jensen-Shannon divergence of their weights."
        ),
        panels=(
            Panel(
                "keys",
                "Keys read by two heads",
                between_heads(read, cosine).cpu().numpy(),
                rows,
                cols,
                scale="signed",
                limit=1.0,
                subtitle="cosine, mean over positions: 1 is the same key head",
                accent="key",
                value_name="cosine",
            ),
            Panel(
                "divergence",
                "Distance of their weights",
                between_heads(trace.weights[0].float()).cpu().numpy(),
                rows,
                cols,
                scale="magnitude",
                subtitle="Jensen–Shannon divergence, bits, mean over queries: 0 same, 1 disjoint",
                value_name="divergence in bits",
            ),
        ),
        settings=f"{n_heads} query heads, {n_kv_heads} key/value heads",
        file_stem="attnviz_head_similarity",
    )


def sharing_chart(n_heads: int, n_kv_heads: int) -> alt.LayerChart:
    """Which query heads read which key/value head, as lines between them."""
    share = n_heads // n_kv_heads
    centre = [group * share + (share - 1) / 2 for group in range(n_kv_heads)]
    links = pd.DataFrame(
        {
            "query head": range(n_heads),
            "KV head": [kv_head_of(head, n_heads, n_kv_heads) for head in range(n_heads)],
            "from": range(n_heads),
            "to": [centre[kv_head_of(head, n_heads, n_kv_heads)] for head in range(n_heads)],
        }
    )
    spots = pd.DataFrame(
        [{"x": float(head), "level": "query heads", "name": f"Q{head}"} for head in range(n_heads)]
        + [
            {"x": x, "level": "key/value heads", "name": f"K{group} V{group}"}
            for group, x in enumerate(centre)
        ]
    )
    across = alt.X("x:Q", axis=None).scale(domain=[-0.6, n_heads - 0.4])
    down = alt.Y("level:N", sort=["query heads", "key/value heads"], title=None).axis(
        domain=False, ticks=False
    )
    lines = (
        alt.Chart(links)
        .transform_calculate(top="'query heads'", bottom="'key/value heads'")
        .mark_rule(stroke="#8c8c8c", strokeWidth=1.5)
        .encode(
            alt.X("from:Q", axis=None).scale(domain=[-0.6, n_heads - 0.4]),
            alt.X2("to:Q"),
            alt.Y("top:N", sort=["query heads", "key/value heads"], title=None),
            alt.Y2("bottom:N"),
            tooltip=["query head:N", "KV head:N"],
        )
    )
    marks = (
        alt.Chart(spots)
        .mark_point(filled=True, size=900, opacity=1)
        .encode(
            across,
            down,
            color=alt.Color("level:N", legend=None).scale(
                domain=["query heads", "key/value heads"],
                range=[palette.ACCENTS["query"][0], palette.ACCENTS["key"][0]],
            ),
            shape=alt.Shape("level:N", legend=None).scale(
                domain=["query heads", "key/value heads"], range=["circle", "square"]
            ),
        )
    )
    names = alt.Chart(spots).mark_text(color="white", fontSize=11).encode(across, down, text="name")
    title = f"{n_heads} query heads share {n_kv_heads} key/value heads"
    return alt.LayerChart(layer=[lines, marks, names], height=130, title=title)


def _numbers(tensor: Any) -> Float32[np.ndarray, ...]:
    """Example 0 of a tensor as float32."""
    return tensor[0].float().cpu().numpy()

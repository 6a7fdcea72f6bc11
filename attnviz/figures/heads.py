"""Runs of multi-head, grouped-query and multi-query attention -> heads side by side, and costs."""

from __future__ import annotations

from dataclasses import replace

import attnviz as av
from attnviz.figures import palette
from attnviz.figures.axes import numbered_axis
from attnviz.figures.figure import Figure, Panel
from attnviz.figures.maps import map_figure
from attnviz.figures.vega import Spec, name, number


def kv_head_of(head: int, n_heads: int, n_kv_heads: int) -> int:
    """The key/value head that a query head reads: neighbours share (Ainslie et al. 2023)."""
    return head // (n_heads // n_kv_heads)


def divisors(n_heads: int) -> list[int]:
    """The numbers of key/value heads that serve equally many query heads each."""
    return [count for count in range(1, n_heads + 1) if n_heads % count == 0]


def heads_figure(trace: av.Trace, head: int = 0, code: str = "") -> Figure:
    """Every head's map of example 0 as a thumbnail over its key/value head, and one large.

    code: Python that makes `trace`.
    """
    figure = map_figure(trace, head, code)
    n_heads, n_kv_heads = trace.dimensions["n_heads"], trace.dimensions["n_kv_heads"]
    return replace(
        figure,
        title=f"{n_heads} query heads on {n_kv_heads} key/value heads",
        alt=(
            f"Attention maps of {n_heads} query heads that share {n_kv_heads} key/value heads, "
            f"{n_heads // n_kv_heads} to each, on {len(trace.query_tokens)} tokens."
        ),
        grid=replace(figure.grid, kv_heads=n_kv_heads) if figure.grid else None,
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


def sharing_chart(n_heads: int, n_kv_heads: int) -> Spec:
    """Which query heads read which keys and values, as lines between them."""
    share = n_heads // n_kv_heads
    readers = [kv_head_of(head, n_heads, n_kv_heads) for head in range(n_heads)]
    centre = [group * share + (share - 1) / 2 for group in range(n_kv_heads)]
    roomy = n_heads <= 8  # else a mark holds a number only: its row says of what
    letters = ("V", "K", "Q") if roomy else ("", "", "")
    rows = dict(zip(("values", "keys", "queries"), letters, strict=True))
    spots = [
        {"x": float(head), "row": "queries", "name": f"{rows['queries']}{head}"}
        for head in range(n_heads)
    ] + [
        {"x": x, "row": row, "name": f"{rows[row]}{group}"}
        for group, x in enumerate(centre)
        for row in ("keys", "values")
    ]
    links = [
        {"x": float(head), "row": "queries", "x2": centre[group], "row2": "keys"}
        for head, group in enumerate(readers)
    ] + [{"x": x, "row": "keys", "x2": x, "row2": "values"} for x in centre]
    place = {
        "x": number("x", axis=None, scale={"domain": [-0.6, n_heads - 0.4]}),
        "y": name("row", sort=list(rows), axis={"domain": False, "ticks": False}),
    }
    colours = [palette.ACCENTS[word][0] for word in ("value", "key", "query")]
    shapes = ["square", "square", "circle"]
    words = {"color": "white", "fontSize": 11 if roomy else 10, "fontWeight": "bold"}
    return {
        "title": "Which head reads which keys",
        "height": 150,
        "layer": [
            {
                "data": {"name": "links"},
                "mark": {"type": "rule", "stroke": "#8c8c8c", "strokeWidth": 1.5},
                "encoding": place | {"x2": {"field": "x2"}, "y2": {"field": "row2"}},
            },
            {
                "data": {"name": "spots"},
                "mark": {
                    "type": "point",
                    "filled": True,
                    "size": 480 if roomy else 280,
                    "opacity": 1,
                },
                "encoding": place
                | {
                    word: name("row", legend=None, scale={"domain": list(rows), "range": range_})
                    for word, range_ in (("color", colours), ("shape", shapes))
                },
            },
            {
                "data": {"name": "spots"},
                "mark": {"type": "text"} | words,
                "encoding": place | {"text": name("name")},
            },
        ],
        "datasets": {"links": links, "spots": spots},
    }


def reading(trace: av.Trace, head: int) -> str:
    """One sentence: whose keys and values a query head reads, and with whom it shares them."""
    n_heads, n_kv_heads = trace.dimensions["n_heads"], trace.dimensions["n_kv_heads"]
    group = kv_head_of(head, n_heads, n_kv_heads)
    others = [
        str(other)
        for other in range(n_heads)
        if other != head and kv_head_of(other, n_heads, n_kv_heads) == group
    ]
    alone = "and no other head does" if not others else f"as do query heads {', '.join(others)}"
    if len(others) == 1:
        alone = f"as does query head {others[0]}"
    return (
        f"Query head {head} reads key/value head {group}, {alone}: "
        f"{head} // ({n_heads} / {n_kv_heads}) = {group}."
    )


def heads_code(inputs_code: str, trace: av.Trace) -> str:
    """Python that computes the maps drawn here, given the expression that makes the inputs."""
    mask = "None" if trace.options["mask"] == "none" else "av.masks.causal()"
    dimensions = trace.dimensions
    return (
        f"import attnviz as av\n\n"
        f"x = {inputs_code}\n"
        f"trace = av.run(\n"
        f'    "grouped_query",\n'
        f"    x,\n"
        f"    n_heads={dimensions['n_heads']},\n"
        f"    n_kv_heads={dimensions['n_kv_heads']},\n"
        f"    mask={mask},\n"
        f"    seed={trace.options['seed']},\n"
        f")\n"
        f"trace.weights  # (batch, heads, queries, keys)\n"
        f'trace["key_heads"].tensor  # (batch, kv_heads, keys, head_dim)\n'
    )

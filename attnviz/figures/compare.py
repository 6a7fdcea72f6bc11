"""Two or three runs on the same input -> their maps on one scale, differences, distances, costs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import combinations

import numpy as np
import pandas as pd
from jaxtyping import Float32

import attnviz as av
from attnviz.figures import palette
from attnviz.figures.axes import key_axis, query_axis
from attnviz.figures.figure import Figure, Panel
from attnviz.figures.maps import blocked, map_word
from attnviz.figures.vega import Spec, legible, name, number, tip

_PRINT = "for name, trace in traces.items():\n    print(name, trace.weights)\n"


def compare_figure(traces: Mapping[str, av.Trace], head: int, code: str = "") -> Figure:
    """Each run's map of one head, then the first minus each of the others.

    All maps are drawn on one scale: that of weights if every one is a softmax, else signed. A run
    with fewer heads shows its last. code: Python that makes `traces`.
    """
    maps = {word: _map(trace, head) for word, trace in traces.items()}
    softmax = all(trace.weights_kind == "softmax" for trace in traces.values())
    limit = 1.0 if softmax else max(float(np.abs(values).max()) for values in maps.values())
    first, *others = traces
    rows, cols = query_axis(traces[first]), key_axis(traces[first])
    panels = [
        Panel(
            word,
            title_of(word),
            maps[word],
            rows,
            cols,
            scale="weight" if softmax else "signed",
            blocked=blocked(trace),
            subtitle=_head(trace, head),
            limit=limit or None,
        )
        for word, trace in traces.items()
    ]
    panels += [
        Panel(
            f"{word}-difference",
            "Difference",
            maps[first] - maps[word],
            rows,
            cols,
            scale="signed",
            blocked=_both(blocked(traces[first]), blocked(traces[word])),
            subtitle=f"{title_of(first)} minus {title_of(word)}",
            value_name="difference",
        )
        for word in others
    ]
    names = " and ".join(map(title_of, traces))
    return Figure(
        title=names,
        alt=f"Maps of {names} on the same {len(rows.labels)} tokens, and their differences.",
        panels=tuple(panels),
        settings=", ".join(traces) + f", head {head}, seed {traces[first].options['seed']}",
        file_stem="attnviz_compare",
        snippet=code
        and f"{code}for name, trace in traces.items():\n    print(name, trace.weights)\n",
    )


def _map(trace: av.Trace, head: int) -> Float32[np.ndarray, "queries keys"]:
    weights = trace.weights[0]
    return weights[min(head, len(weights) - 1)].detach().float().cpu().numpy()


def _head(trace: av.Trace, head: int) -> str:
    heads = trace.weights.shape[1]
    kind = "softmax weights" if trace.weights_kind == "softmax" else "effective map"
    word = map_word(trace)
    return f"{kind}, " + (f"its one {word}" if heads == 1 else f"{word} {min(head, heads - 1)}")


def _both(one: np.ndarray | None, other: np.ndarray | None) -> np.ndarray | None:
    return None if one is None or other is None else one & other


def title_of(word: str) -> str:
    """What a variant is called."""
    return av.variants.find(word).title


def distances(traces: Mapping[str, av.Trace]) -> pd.DataFrame:
    """How far apart each pair is. Columns: pair, output, by_token (a list), map, shared.

    output is the relative distance of outputs (metrics/distance.py), None where their shapes
    differ; map the mean absolute difference of the first head's cells; shared names the weight
    matrices that are equal to the last bit.
    """
    from attnviz.metrics.distance import by_token, relative

    rows = []
    for one, other in combinations(traces, 2):
        first, second = (traces[word].output[0].detach().float() for word in (one, other))
        alike = first.shape == second.shape
        change = np.abs(_map(traces[one], 0) - _map(traces[other], 0))
        rows.append(
            {
                "pair": f"{title_of(one)} and {title_of(other)}",
                "output": relative(first, second) if alike else None,
                "by_token": by_token(first, second).tolist() if alike else [],
                "map": float(change.mean()),
                "shared": ", ".join(_shared(traces[one], traces[other])) or "none",
            }
        )
    return pd.DataFrame(rows)


def _shared(one: av.Trace, other: av.Trace) -> list[str]:
    return [
        word
        for word, W in one.parameters.items()
        if word in other.parameters
        and other.parameters[word].shape == W.shape
        and bool((other.parameters[word] == W).all())
    ]


def distance_chart(table: pd.DataFrame, tokens: tuple[str, ...], *, dark: bool = False) -> Spec:
    """Relative distance of the outputs at each token, a line a pair."""
    lines = dict(zip(table["pair"], table["by_token"], strict=True))
    rows = [
        {"place": place, "token": tokens[place], "pair": pair, "distance": value}
        for pair, values in lines.items()
        for place, value in enumerate(values)
    ]
    pairs = [pair for pair, values in lines.items() if values]
    color = name(
        "pair",
        scale={"domain": pairs, "range": list(palette.LINES[dark][: len(pairs)])},
        legend={"orient": "bottom", "columns": 1, "labelLimit": 0},
    )
    chart = {
        "title": "Distance of the outputs, token by token",
        "height": 420,
        "data": {"name": "tokens"},
        "mark": {"type": "line", "point": {"size": 45}, "strokeWidth": 2},
        "encoding": {
            "x": number("place", "token (position)", axis={"tickMinStep": 1, "grid": False}),
            "y": number("distance", "relative distance", scale={"zero": True}),
            "color": color,
            "tooltip": [
                tip("token", "token"),
                tip("pair", "pair"),
                tip("distance", "relative distance", ".4f"),
            ],
        },
        "datasets": {"tokens": rows},
    }
    return legible(chart, dark=dark)


def costs(
    traces: Mapping[str, av.Trace], runs: Mapping[str, Callable[[], av.Trace]]
) -> pd.DataFrame:
    """Operations and bytes of each run. runs: what runs each of them again.

    Columns: variant, operations, kept (bytes of cache or state), parameters (numbers).
    """
    from attnviz.cost.counts import bill, counted

    rows = []
    for word, trace in traces.items():
        lines = bill(trace)
        told = sum(line.amount for line in lines if line.unit == "operations")
        rows.append(
            {
                "variant": title_of(word),
                "operations": told or counted(runs[word]),
                "kept": next((line.amount for line in lines if "kept" in line.what), None),
                "parameters": sum(W.numel() for W in trace.parameters.values()),
            }
        )
    return pd.DataFrame(rows)

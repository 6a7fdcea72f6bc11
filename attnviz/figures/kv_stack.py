"""The stack of a model's layers, each with its kind and what it holds."""

from __future__ import annotations

from collections import Counter
from math import ceil, log2

from attnviz.figures.vega import Spec, tip
from attnviz.kv_cache import Size
from attnviz.kv_cache.words import readable, stores

KINDS: dict[str, tuple[str, str]] = {  # kind: (on a light page, on a dark page)
    "full": ("#33679C", "#7FB2E5"),
    "sliding": ("#88B4DC", "#47739F"),
    "latent": ("#A0459A", "#DB8BD5"),
    "linear": ("#B98200", "#E0B04A"),
    "cross": ("#5E6B2E", "#AEBB73"),
    "shared": ("#C7C7C7", "#565656"),
    "none": ("#9A9A9A", "#767676"),
}
"""A colour a kind. None of them is a query's, key's or value's."""


def stack(at: Size, *, dark: bool = False) -> Spec:
    """The model's layers in order: what kind each is, and how many bytes it holds now."""
    held = at.by_layer
    top = max(each.total_bytes for each in held)
    power = max((p for p in range(5) if top >= 1024**p), default=0)
    unit = ("bytes", "KiB", "MiB", "GiB", "TiB")[power]
    rows = [
        {
            "layer": each.index,
            "kind": each.kind,
            "bytes": each.total_bytes,
            "scaled": each.total_bytes / 1024**power,
            "size": readable(each.total_bytes),
            "stores": stores(layer),
        }
        for layer, each in zip(at.spec.layers, held, strict=True)
    ]
    kinds = list(at.spec.counts)
    every = 2 ** max(0, ceil(log2(at.spec.n_layers / 16)))  # at most 16 numbers under the bars
    x = {
        "field": "layer",
        "type": "ordinal",
        "title": "Layer, from the first to the last",
        "axis": {
            "values": list(range(0, at.spec.n_layers, every)),
            "labelAngle": 0,
            "ticks": False,
        },
        "scale": {"paddingInner": 0.15, "paddingOuter": 0},
    }
    y = {
        "field": "scaled",
        "type": "quantitative",
        "title": f"{unit} a layer",
        "axis": {"tickCount": 3},
        "scale": {} if top else {"domain": [0, 1]},
    }
    colour = {
        "field": "kind",
        "type": "nominal",
        "title": "Kind",
        "scale": {"domain": kinds, "range": [KINDS[kind][dark] for kind in kinds]},
        "legend": {"orient": "right"},
    }
    tooltip = [
        tip("layer", "Layer"),
        tip("kind", "Kind"),
        tip("stores", "Stores"),
        tip("bytes", "Bytes", ","),
        tip("size", "Size"),
    ]
    shared = {"x": x, "color": colour, "tooltip": tooltip}
    # However little a layer holds beside the others, its kind stays in sight.
    floor = {"y": {"value": "height"}, "y2": {"value": {"expr": "height - 5"}}}

    def wide(kind: str) -> Spec:
        return {"type": kind, "width": {"band": 1}}

    once = Counter(row["layer"] for row in rows)
    return {
        "title": "What each layer holds at this context",
        "height": 200,
        "layer": [
            {"data": {"name": "layers"}, "mark": wide("bar"), "encoding": {**shared, "y": y}},
            {"data": {"name": "floor"}, "mark": wide("rect"), "encoding": {**shared, **floor}},
        ],
        "datasets": {
            "layers": rows,
            "floor": [row for row in rows if once[row["layer"]] == 1],
        },
    }

"""A cache against its context, beside the same model with other kinds of attention."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log2

from attnviz.errors import AttnvizError
from attnviz.figures.vega import INK, Spec, tip
from attnviz.kv_cache import CacheSpec, Size, crossing, resized
from attnviz.kv_cache.words import readable

_SOFT, _BOLD = ("#6b7280", "#9aa3af"), ("#0b5fa5", "#7cc4ff")
_DASHES = ((6, 3), (2, 2), (10, 3, 2, 3), (1, 3), (4, 4))
_HEIGHT = 400
_PLOT = 280  # pixels of it between title and axis
_TEXT = 17  # pixels from one name to the next
_LONGEST = 14  # letters of a name at its line; a longer one would leave a phone no curve
_BYTES = " : ".join(
    f"datum.value >= {1024**power} ? format(datum.value / {1024**power}, ',') + ' {unit}'"
    for power, unit in ((5, "PiB"), (4, "TiB"), (3, "GiB"), (2, "MiB"), (1, "KiB"))
)
_TOKENS = (
    "datum.value >= 1048576 ? format(datum.value / 1048576, ',') + 'M' : "
    "datum.value >= 1024 ? format(datum.value / 1024, ',') + 'K' : datum.value"
)


@dataclass(frozen=True)
class Point:
    """A design's bytes at one length."""

    design: str
    tokens: int
    bytes: int
    size: str  # the bytes in words


def points(specs: Sequence[CacheSpec], at: Size, *, shortest: int = 128) -> list[Point]:
    """Each design along the context, under the settings of `at`.

    Three lengths to an octave, with each window's own length, where its curve bends, the longest
    context that a model states, and that of `at`.
    """
    end = max(*(spec.max_context or 0 for spec in specs), at.length, 1024 * shortest)
    octaves = range(3 * floor(log2(shortest)), ceil(3 * log2(end)) + 1)
    steps = {round(2 ** (step / 3)) for step in octaves}
    windows = {getattr(layer, "window", 0) for spec in specs for layer, _count in spec.groups}
    lengths = sorted(n for n in steps | windows | {at.length, end} if shortest <= n <= end)
    found = []
    for spec in specs:
        for length in lengths:
            total = resized(at, spec, length).total_bytes
            found.append(Point(spec.name, length, total, readable(total)))
    return found


def growth(at: Size, others: Sequence[CacheSpec], *, dark: bool = False) -> Spec:
    """Bytes against context, both on log axes: the design of `at` bold, the others beside it."""
    specs = [at.spec, *others]
    drawn = [point for point in points(specs, at) if point.bytes]
    if not drawn:
        raise AttnvizError(f"{at.spec.name} keeps no cache: there is no curve to draw.")
    ink, soft, bold = INK[dark], _SOFT[dark], _BOLD[dark]
    low, high = _decades([point.bytes for point in drawn])
    levels = _ticks(low, high)
    shortest, longest = drawn[0].tokens, drawn[-1].tokens
    ends = [point for point in drawn if point.tokens == longest]
    seen = at.total_bytes > 0 and at.length >= shortest
    here = [{"tokens": at.length, "bytes": at.total_bytes}] if seen else []

    x = {
        "field": "tokens",
        "type": "quantitative",
        "title": "Context in tokens (log scale, K = 1,024)",
        "scale": {"type": "log", "base": 2, "domain": [shortest, longest], "nice": False},
        "axis": {"values": _powers(shortest, longest), "labelExpr": _TOKENS, "grid": False},
    }
    y = {
        "field": "bytes",
        "type": "quantitative",
        "title": "Cache in bytes (log scale)",
        "scale": {"type": "log", "base": 2, "domain": [low, high], "nice": False},
        "axis": {"values": levels, "labelExpr": f"{_BYTES} : datum.value", "grid": False},
    }
    both = {"x": x, "y": y}
    emphasis = {"test": "datum.place == 0", "value": bold}
    layers = [
        {
            "data": {"name": "levels"},
            "mark": {"type": "rule", "color": soft, "opacity": 0.25},
            "encoding": {**both, "x2": {"field": "end"}},
        },
        {
            "data": {"name": "curves"},
            "mark": {"type": "line", "clip": True},
            "encoding": {
                **both,
                "detail": {"field": "design", "type": "nominal"},
                "color": {"condition": emphasis, "value": soft},
                "strokeWidth": {"condition": {**emphasis, "value": 3.5}, "value": 1.5},
                "strokeDash": {
                    "field": "place",
                    "type": "nominal",
                    "legend": None,
                    "scale": {
                        "domain": list(range(len(specs))),
                        "range": [[1, 0], *(list(_DASHES[i % 5]) for i in range(len(others)))],
                    },
                },
            },
        },
        {
            "data": {"name": "curves"},
            "mark": {"type": "point", "opacity": 0, "size": 90},
            "encoding": {
                **both,
                "tooltip": [
                    tip("design", "Design"),
                    tip("tokens", "Context in tokens", ","),
                    tip("bytes", "Bytes", ","),
                    tip("size", "Size"),
                ],
            },
        },
        {
            "data": {"name": "here"},
            "mark": {"type": "rule", "color": ink, "strokeDash": [2, 3], "opacity": 0.6},
            "encoding": {"x": x},
        },
        {
            "data": {"name": "here"},
            "mark": {"type": "point", "color": bold, "filled": True, "size": 110, "opacity": 1},
            "encoding": both,
        },
        {
            "data": {"name": "crossings"},
            "mark": {"type": "point", "color": ink, "size": 90, "strokeWidth": 2, "aria": False},
            "encoding": {
                **both,
                "tooltip": [tip("who", "Change places"), tip("tokens", "at tokens", ",")],
            },
        },
        {
            "data": {"name": "names"},
            "mark": {"type": "text", "align": "left", "dx": 7, "fontSize": 13, "fontWeight": 600},
            "encoding": {
                **both,
                "text": {"field": "name", "type": "nominal"},
                "color": {"condition": emphasis, "value": soft},
            },
        },
    ]
    places = {spec.name: place for place, spec in enumerate(specs)}
    alike = others and all(
        (other.n_layers, other.n_heads, other.head_dim)
        == (at.spec.n_layers, at.spec.n_heads, at.spec.head_dim)
        for other in others
    )
    shape = f"{at.spec.n_layers} layers of {at.spec.n_heads} heads × {at.spec.head_dim}"
    return {
        "title": {
            "text": "Cache against context" + (f", {at.batch:,} sequences" if at.batch > 1 else ""),
            "subtitle": f"Thin lines: {shape}, all alike" if alike else "",
            "subtitleColor": soft,
            "subtitleFontSize": 12,
        },
        "height": _HEIGHT,
        "layer": layers,
        "datasets": {
            "levels": [{"tokens": shortest, "end": longest, "bytes": level} for level in levels],
            "curves": [{**vars(point), "place": places[point.design]} for point in drawn],
            "here": here,
            "crossings": _crossings(at, others, shortest, longest),
            "names": [
                {"tokens": longest, "bytes": level, "name": _short(name), "place": places[name]}
                for name, level in _spread(ends, low, high)
            ],
        },
    }


def _crossings(
    at: Size, others: Sequence[CacheSpec], shortest: int, longest: int
) -> list[dict[str, int | str]]:
    """Where another design and this one change places, within what is drawn."""
    found = {other.name: crossing(at.spec, other, at) for other in others}
    return [
        {
            "who": f"{at.spec.name}, {name}",
            "tokens": tokens,
            "bytes": resized(at, at.spec, tokens).total_bytes,
        }
        for name, tokens in found.items()
        if tokens is not None and shortest <= tokens <= longest
    ]


def _short(name: str) -> str:
    """A name that fits beside its line: without what stands in brackets or after a slash."""
    word = name.split(" (")[0].split(" / ")[0]
    return word if len(word) <= _LONGEST else "this one"


def _spread(ends: list[Point], low: int, high: int) -> list[tuple[str, float]]:
    """A height for each name at the right end of its line, moved up where two would touch."""
    apart = _TEXT * log2(high / low) / _PLOT
    placed: list[tuple[str, float]] = []
    level = 0.0
    for end in sorted(ends, key=lambda end: end.bytes):
        level = max(log2(end.bytes), level + apart)
        placed.append((end.design, 2**level))
    return placed


def _decades(drawn: list[int]) -> tuple[int, int]:
    """Powers of two around what is drawn, with room for a name above the highest line."""
    low = 2 ** floor(log2(min(drawn)))
    return low, max(2 ** (ceil(log2(max(drawn))) + 1), 4 * low)


def _ticks(low: int, high: int) -> list[int]:
    """At most nine powers of two, on even steps so that units come out round."""
    octaves = log2(high / low)
    step = next((s for s in (1, 2, 5, 10) if octaves / s <= 9), 10)
    first = ceil(log2(low) / step) * step
    return [2**power for power in range(first, int(log2(high)) + 1, step)]


def _powers(first: int, last: int) -> list[int]:
    """Every second power of two from first to last."""
    return [2**power for power in range(ceil(log2(first) / 2) * 2, int(log2(last)) + 1, 2)]

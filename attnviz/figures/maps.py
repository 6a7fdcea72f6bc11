"""A run of any variant -> its true token-to-token map, every head as a thumbnail and one large."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float32

import attnviz as av
from attnviz.figures.axes import key_axis, query_axis
from attnviz.figures.figure import Figure, Grid, Panel, squares
from attnviz.figures.steps import settings_line


def map_figure(trace: av.Trace, head: int = 0, code: str = "", batch: int = 0) -> Figure:
    """The map of every head of one example. code: Python that makes `trace`."""
    maps = trace.weights[batch].detach().float().cpu().numpy()  # (H, T_q, T_k)
    title = av.variants.find(trace.variant).title
    softmax = trace.weights_kind == "softmax"
    what = "softmax weights" if softmax else "exact effective map, signed"
    word = map_word(trace)
    return Figure(
        title=title,
        alt=(
            f"{title}: the {what} of {len(maps)} {word}{'' if len(maps) == 1 else 's'} for "
            f"{maps.shape[1]} queries and {maps.shape[2]} keys."
        ),
        panels=(
            Panel(
                "weights",
                f"Weights of one {word}" if softmax else f"Effective map of one {word}",
                maps[head],
                query_axis(trace),
                key_axis(trace),
                scale="weight" if softmax else "signed",
                blocked=blocked(trace, batch),
                subtitle=what,
                limit=1.0 if softmax else float(np.abs(maps).max()) or None,
            ),
        ),
        grid=_grid(maps, word) if len(maps) > 1 else None,
        settings=settings_line(trace),
        file_stem=f"attnviz_{trace.variant}",
        snippet=code and f"{code}print(trace.weights[0, head])\n",
    )


def map_word(trace: av.Trace) -> str:
    """What each of a run's maps is of: a head, or a channel where the mixer works by channel."""
    return "channel" if "map_channel" in trace["weights"].axes else "head"


def _grid(maps: Float32[np.ndarray, "heads queries keys"], word: str) -> Grid:
    return Grid(squares(maps)[None], (0,), stack=maps[None], word=word)


def blocked(trace: av.Trace, batch: int = 0) -> Bool[np.ndarray, "queries keys"] | None:
    """Cells that the mask hides from every head; None where there are none."""
    if trace.allowed is None:
        return None
    allowed = trace.allowed[min(batch, len(trace.allowed) - 1)].any(0).cpu().numpy()
    sides = (len(trace.query_tokens), len(trace.key_tokens))
    hidden = ~np.broadcast_to(allowed, sides)
    return hidden if hidden.any() else None


def kind_sentence(trace: av.Trace, head: int, batch: int = 0) -> str:
    """What kind of map this is, and the numbers that a reader may take it by."""
    which = map_word(trace)
    weights = trace.weights[batch, head].double()
    sums = weights.sum(-1)
    low, high = float(sums.min()), float(sums.max())
    alike = high - low < 1e-5
    rows = f"add up to {_number(low)}" + ("" if alike else f" to {_number(high)}")
    if trace.weights_kind == "softmax":
        return f"Softmax weights of {which} {head}: no cell is negative, rows {rows}."
    least, most = (_number(float(end)) for end in (weights.min(), weights.max()))
    return (
        f"This is the exact effective map of {which} {head} (output = A·V), not a probability: its "
        f"cells lie between {least} and {most}, and rows {rows}."
    )


def _number(value: float) -> str:
    return f"{value:.3g}".replace("-", "−")


def run_code(inputs: dict[str, str], name: str, options: dict[str, str]) -> str:
    """Python that makes `trace`: expressions of the inputs and options by their names."""
    lines = ["import attnviz as av", ""]
    lines += [f"{word} = {expression}" for word, expression in inputs.items()]
    given = [f"{word}={value}" for word, value in options.items()]
    call = ", ".join(
        [repr(name), "x", *(["context=context"] if "context" in inputs else []), *given]
    )
    return "\n".join([*lines, f"trace = av.run({call})", ""])

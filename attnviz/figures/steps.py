"""A trace -> one panel a step: every matrix of the computation, in order, with its shape."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool

import attnviz as av
from attnviz.figures.axes import key_axis, numbered_axis, query_axis
from attnviz.figures.figure import Axis, Figure, Panel, Scale, Selection
from attnviz.figures.step_words import ACCENTS, along, sides_of_weight, title

WALK = (
    "scores", "scaled", "biased", "capped", "masked", "weights", "heads", "concatenated", "output",
)  # fmt: skip
"""What the player shows one after another: from the first score to the output."""


def steps_figure(trace: av.Trace, *, head: int = 0, batch: int = 0) -> Figure:
    """Every step of a run as a matrix: one example, one head, then the weight matrices."""
    panels = [_step_panel(trace, step, head, batch) for step in trace.steps]
    panels += [_weight_panel(trace, name, head) for name in trace.parameters]
    n_queries, n_keys = len(trace.query_tokens), len(trace.key_tokens)
    kind = "cross-attention" if trace.is_cross else "self-attention"
    return Figure(
        title="Attention step by step",
        alt=(
            f"The matrices of one attention head in order, from inputs to output: {kind} of "
            f"{n_queries} {'query' if n_queries == 1 else 'queries'} and {n_keys} "
            f"{'key' if n_keys == 1 else 'keys'}, each matrix with its shape."
        ),
        panels=tuple(panels),
        walk=tuple(step.name for step in trace.steps if step.name in WALK),
        settings=settings_line(trace),
        file_stem=f"attnviz_{trace.variant}",
    )


def steps_snippet(code: str) -> str:
    """Python that prints every matrix of the figure, given the code that makes `trace`."""
    return (
        f"{code}\n"
        f"for name, matrix in trace.parameters.items():\n"
        f"    print(name, matrix)\n"
        f"for step in trace.steps:\n"
        f"    print(step.name, step.tensor)\n"
    )


def first_cell(trace: av.Trace) -> Selection:
    """The cell to tell before the reader has chosen one: a score, off the diagonal if it can be."""
    n_queries, n_keys = len(trace.query_tokens), len(trace.key_tokens)
    return Selection(0, 0, "scores", min(2, n_queries - 1), min(1, n_keys - 1))


def settings_line(trace: av.Trace) -> str:
    """One line that says which run this is."""
    sizes = ", ".join(f"{word} {size}" for word, size in trace.dimensions.items())
    options = trace.options
    return (
        f"{trace.variant}, {sizes}, scale {options['scale']:.4g}, mask {options['mask']}, "
        f"positions {options['positions']}, seed {options['seed']}, {trace.dtype} on "
        f"{trace.device}, {trace.kernel} kernel"
    )


def steps_table(trace: av.Trace) -> str:
    """Markdown: each step's shape in this run, its formula, and what happens there."""
    lines = ["| Step and shape | Formula | What happens |", "|---|---|---|"]
    for step in trace.steps:
        name = _title(trace, step.name, 0).split(" = ")[0]
        shape = _shape(trace, *_sides(step))
        lines.append(f"| {name}: {shape} | ${step.formula}$ | {step.note} |")
    return "\n".join(lines)


def cell_index(
    trace: av.Trace, step_name: str, row: int, col: int, *, head: int = 0, batch: int = 0
) -> tuple[int, ...]:
    """The index into a step's tensor of what its panel shows at (row, col)."""
    return (*_lead(trace, trace[step_name], head, batch), row, col)


def _lead(trace: av.Trace, step: av.Step, head: int, batch: int) -> tuple[int, ...]:
    """Where the shown matrix lies in the step's tensor: the places on all but its last two axes."""
    return tuple(
        _place(trace, axis, size, head, batch)
        for axis, size in zip(step.axes[:-2], step.shape[:-2], strict=True)
    )


def _place(trace: av.Trace, axis: str, size: int, head: int, batch: int) -> int:
    """Of heads that several query heads share, the one that is read; of an unknown axis, 0.

    Where a mixer works by channel, head is the channel.
    """
    if axis in ("kv_head", "key_head"):
        return head * size // trace.dimensions["n_heads"]
    return min({"batch": batch, "head": head, "map_channel": head}.get(axis, 0), size - 1)


def _step_panel(trace: av.Trace, step: av.Step, head: int, batch: int) -> Panel:
    lead = _lead(trace, step, head, batch)
    drawn = {*trace.names, *trace.parameters}
    values = step.tensor[lead].detach().float().cpu().numpy()
    rows, cols = (_axis(trace, name, size) for name, size in _sides(step))
    blocked = _blocked(trace, head, batch) if step.name in ("masked", "weights") else None
    if step.name == "masked" and blocked is not None:
        values = np.where(blocked, np.float32(np.nan), values)
    # An effective map is signed, and no probability: it has neither the colours nor the end of one.
    shares = step.role == "weights" and trace.weights_kind == "softmax"
    scale: Scale = "weight" if shares else "signed"
    return Panel(
        id=step.name,
        title=_title(trace, step.name, head),
        values=values,
        rows=rows,
        cols=cols,
        scale=scale,
        blocked=blocked,
        subtitle=_shape(trace, *_sides(step)),
        accent=ACCENTS.get(step.role, "plain"),
        limit=1.0 if shares else _limit(trace, step, lead),
        made_from=tuple(name for name in step.origin.sources if name in drawn),
    )


def _weight_panel(trace: av.Trace, name: str, head: int) -> Panel:
    """A weight as a matrix: a vector as one row, of a stack the head's own (or the first)."""
    tensor = trace.parameters[name].detach().float().cpu()
    tensor = tensor.reshape(1, -1) if tensor.ndim < 2 else tensor
    while tensor.ndim > 2:
        tensor = tensor[min(head, len(tensor) - 1)]
    values = tensor.numpy()
    row_name, col_name, accent = sides_of_weight(name, values.shape, trace.dimensions)
    sides = ((row_name, values.shape[0]), (col_name, values.shape[1]))
    rows, cols = (_axis(trace, *side) for side in sides)
    return Panel(
        id=name,
        title=title(name, trace.variant),
        values=values,
        rows=rows,
        cols=cols,
        scale="signed",
        subtitle=_shape(trace, *sides),
        accent=accent,
    )


def _title(trace: av.Trace, name: str, head: int) -> str:
    if name == "output" and "concatenated" in trace.names:
        return "Output Y"
    if name == "weights" and trace.weights_kind == "effective":
        return "Effective map A"
    step = trace[name]
    own = step.axes[1] in ("head", "kv_head", "key_head")
    group = _place(trace, step.axes[1], step.shape[1], head, 0) if own else head
    return title(name, trace.variant, c="C" if trace.is_cross else "X", h=head, g=group)


def _sides(step: av.Step) -> tuple[tuple[str, int], tuple[str, int]]:
    return (step.axes[-2], step.shape[-2]), (step.axes[-1], step.shape[-1])


def _axis(trace: av.Trace, name: str, size: int) -> Axis:
    """The side of a panel: tokens where it runs along them, else numbered places."""
    if size == _tokens(trace, name):
        return query_axis(trace) if name == "query" else key_axis(trace)
    return numbered_axis(name, along(name)[0], size)


def _shape(trace: av.Trace, *sides: tuple[str, int]) -> str:
    """ "6 × 8 (T × d_k)": the numbers, and the letters that formulas use for them."""
    letters = []
    for name, size in sides:
        whose = f"T_{name[0]}" if trace.is_cross else "T"
        letter = whose if size == _tokens(trace, name) else along(name)[1]
        normalised = name == "value_channel" and size == trace.dimensions["v_head_dim"] + 1
        letters.append(f"({letter} + 1)" if normalised else letter)
    return f"{' × '.join(str(size) for _, size in sides)} ({' × '.join(letters)})"


def _tokens(trace: av.Trace, axis: str) -> int | None:
    """How many tokens stand along an axis of that name; None where it has no tokens."""
    return {"query": len(trace.query_tokens), "key": len(trace.key_tokens)}.get(axis)


def _blocked(trace: av.Trace, head: int, batch: int) -> Bool[np.ndarray, "queries keys"] | None:
    if trace.allowed is None:
        return None
    allowed = trace.allowed
    example, group = min(batch, allowed.shape[0] - 1), min(head, allowed.shape[1] - 1)
    blocked = ~allowed[example, group].cpu().numpy()
    return blocked if blocked.any() else None


def _limit(trace: av.Trace, step: av.Step, lead: tuple[int, ...]) -> float | None:
    """Scaled and masked scores share one colour scale, so that the mask alone tells them apart."""
    if step.name not in ("scaled", "masked") or "scaled" not in trace.names:
        return None
    return float(trace["scaled"].tensor[lead].detach().abs().max()) or None

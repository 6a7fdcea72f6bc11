"""A trace -> one panel a step: every matrix of the computation, in order, with its shape."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool

import attnviz as av
from attnviz.figures.axes import key_axis, numbered_axis, query_axis
from attnviz.figures.figure import Accent, Axis, Figure, Panel, Scale, Selection

TITLES = {
    "inputs_tokens": "Token vectors",
    "inputs_positions": "Position vectors",
    "inputs": "Inputs X",
    "context_tokens": "Context's token vectors",
    "context_positions": "Context's position vectors",
    "context": "Context C",
    "query": "Queries Q = X·Wq",
    "key": "Keys K = {c}·Wk",
    "value": "Values V = {c}·Wv",
    "query_heads": "Queries of head {h}",
    "key_heads": "Keys of key/value head {g}",
    "value_heads": "Values of key/value head {g}",
    "query_rotated": "Queries, turned by position",
    "key_rotated": "Keys, turned by position",
    "scores": "Scores S = Q·Kᵀ",
    "scaled": "Scaled scores",
    "masked": "Masked scores",
    "weights": "Weights A = softmax",
    "heads": "Output of head {h}",
    "concatenated": "Heads side by side",
    "output": "Output O = A·V",
    "W_q": "Query matrix Wq",
    "W_k": "Key matrix Wk",
    "W_v": "Value matrix Wv",
    "W_o": "Output matrix Wo",
}
"""What each matrix is called above its picture; {c} is X or C, {h} and {g} number the heads."""

ACCENTS: dict[str, Accent] = {
    "query": "query",
    "key": "key",
    "value": "value",
    "mask": "mask",
    "output": "output",
}

CHANNELS = {
    "feature": ("feature", "d_model"),
    "channel": ("channel", "d_k"),
    "value_channel": ("value channel", "d_v"),
    "all_channel": ("channel, head by head", "H·d_k"),
    "all_kv_channel": ("channel, head by head", "G·d_k"),
    "all_value_channel": ("channel, head by head", "G·d_v"),
    "all_output_channel": ("channel, head by head", "H·d_v"),
}
"""Axes whose places have numbers only: what runs along them, and the letter for how many."""

WALK = ("scores", "scaled", "masked", "weights", "heads", "concatenated", "output")
"""What the player shows one after another: from the first score to the output."""

MATRICES = {
    "W_q": ("feature", "channel", "query"),
    "W_k": ("feature", "channel", "key"),
    "W_v": ("feature", "value_channel", "value"),
    "W_o": ("all_output_channel", "feature", "output"),
}
"""Rows, columns and role of each weight matrix."""


def steps_figure(trace: av.Trace, *, head: int = 0, batch: int = 0) -> Figure:
    """Every step of a run as a matrix: one example, one head, then the weight matrices."""
    panels = [_step_panel(trace, step, head, batch) for step in trace.steps]
    panels += [_matrix_panel(trace, name) for name in trace.parameters]
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
        title = _title(trace, step.name, 0).split(" = ")[0]
        shape = _shape(trace, *_sides(step))
        lines.append(f"| {title}: {shape} | ${step.formula}$ | {step.note} |")
    return "\n".join(lines)


def cell_index(
    trace: av.Trace, step_name: str, row: int, col: int, *, head: int = 0, batch: int = 0
) -> tuple[int, ...]:
    """The index into a step's tensor of what its panel shows at (row, col)."""
    return (*_lead(trace, trace[step_name], head, batch), row, col)


def _lead(trace: av.Trace, step: av.Step, head: int, batch: int) -> tuple[int, ...]:
    if step.axes[1] == "head":
        return batch, head
    if step.axes[1] == "kv_head":
        return batch, head * step.shape[1] // trace.dimensions["n_heads"]
    return (batch,)


def _step_panel(trace: av.Trace, step: av.Step, head: int, batch: int) -> Panel:
    lead = _lead(trace, step, head, batch)
    values = step.tensor[lead].detach().float().cpu().numpy()
    rows, cols = (_axis(trace, name, size) for name, size in _sides(step))
    blocked = _blocked(trace, head, batch) if step.name in ("masked", "weights") else None
    if step.name == "masked" and blocked is not None:
        values = np.where(blocked, np.float32(np.nan), values)
    scale: Scale = "weight" if step.role == "weights" else "signed"
    return Panel(
        id=step.name,
        title=_title(trace, step.name, lead[-1]),
        values=values,
        rows=rows,
        cols=cols,
        scale=scale,
        blocked=blocked,
        subtitle=_shape(trace, *_sides(step)),
        accent=ACCENTS.get(step.role, "plain"),
        limit=1.0 if step.role == "weights" else _limit(trace, step, lead),
        made_from=step.origin.sources,
    )


def _matrix_panel(trace: av.Trace, name: str) -> Panel:
    row_name, col_name, role = MATRICES[name]
    values = trace.parameters[name].detach().float().cpu().numpy()
    if "n_heads" in trace.dimensions and name != "W_o":
        col_name = {"W_q": "all_channel", "W_k": "all_kv_channel", "W_v": "all_value_channel"}[name]
    sides = ((row_name, values.shape[0]), (col_name, values.shape[1]))
    rows, cols = (_axis(trace, *side) for side in sides)
    return Panel(
        id=name,
        title=TITLES[name],
        values=values,
        rows=rows,
        cols=cols,
        scale="signed",
        subtitle=_shape(trace, *sides),
        accent=ACCENTS[role],
    )


def _title(trace: av.Trace, name: str, head: int) -> str:
    if name == "output" and "concatenated" in trace.names:
        return "Output Y"
    return TITLES[name].format(c="C" if trace.is_cross else "X", h=head, g=head)


def _sides(step: av.Step) -> tuple[tuple[str, int], tuple[str, int]]:
    return (step.axes[-2], step.shape[-2]), (step.axes[-1], step.shape[-1])


def _axis(trace: av.Trace, name: str, size: int) -> Axis:
    if name == "query":
        return query_axis(trace)
    if name == "key":
        return key_axis(trace)
    return numbered_axis(name, CHANNELS[name][0], size)


def _shape(trace: av.Trace, rows: tuple[str, int], cols: tuple[str, int]) -> str:
    """ "6 × 8 (T × d_k)": the numbers, and the letters that formulas use for them."""
    tokens = {"query": "T_q", "key": "T_k"} if trace.is_cross else {"query": "T", "key": "T"}
    letters = (tokens.get(name) or CHANNELS[name][1] for name, _ in (rows, cols))
    return f"{rows[1]} × {cols[1]} ({' × '.join(letters)})"


def _blocked(trace: av.Trace, head: int, batch: int) -> Bool[np.ndarray, "queries keys"] | None:
    if trace.allowed is None:
        return None
    allowed = trace.allowed
    example, group = min(batch, allowed.shape[0] - 1), min(head, allowed.shape[1] - 1)
    blocked = ~allowed[example, group].cpu().numpy()
    return blocked if blocked.any() else None


def _limit(trace: av.Trace, step: av.Step, lead: tuple[int, ...]) -> float | None:
    """Scaled and masked scores share one colour scale, so that the mask alone tells them apart."""
    if step.name not in ("scaled", "masked"):
        return None
    return float(trace["scaled"].tensor[lead].detach().abs().max()) or None

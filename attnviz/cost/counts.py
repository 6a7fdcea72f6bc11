"""What one run cost: operations and bytes, counted from its own tensors.

An operation is one multiplication or one addition. Matrix products of m x n by n x p are counted
as 2 m n p, exponentials and divisions are not counted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from attnviz import variants
from attnviz.trace import Step, Trace
from attnviz.variants.softmax import attend

NARROWER = {
    "latent": ("latent_normed", "key_position"),
    "gated_latent": ("latent_normed", "key_position"),
}
"""Steps kept by variants that rebuild their keys and values from something narrower."""


@dataclass(frozen=True)
class Count:
    """One line of a bill: formula is LaTeX with the letters, worked the same with numbers."""

    what: str
    formula: str
    worked: str
    amount: int
    unit: str  # "operations" or "bytes"


def bill(trace: Trace) -> tuple[Count, ...]:
    """Operations and memory of a run, for all of its batch.

    Operations by formula for mixers with a state and those that compare by dot products; of any
    other, bytes alone: `counted` has its operations.
    """
    variant = variants.find(trace.variant)
    if variant.recurrence is not None:
        return _projections(trace), *_recurrent(trace)
    if attend in variant.parts and not variant.own_queries:
        return _projections(trace), _compared(trace), *_written(trace)
    return _written(trace)


def counted(compute: Callable[[], Trace]) -> int:
    """The operations of all matrix products of a run, as PyTorch's own counter finds them."""
    from torch.utils.flop_counter import FlopCounterMode

    with FlopCounterMode(display=False) as counter:
        compute()
    return int(counter.get_total_flops())


def _projections(trace: Trace) -> Count:
    """x W for every weight matrix that tokens are multiplied with."""
    matrices = [W.numel() for W in trace.parameters.values() if W.ndim == 2]
    tokens = trace["inputs"].shape[0] * trace["inputs"].shape[1]
    if trace.is_cross:  # each matrix meets the queries' tokens or the keys'
        asked = {"W_q", "W_o"}
        answering = trace["context"].shape[0] * trace["context"].shape[1]
        amount = 2 * sum(
            W.numel() * (tokens if word in asked else answering)
            for word, W in trace.parameters.items()
            if W.ndim == 2
        )
        return Count("Projections", r"2 \sum_W T_W\,|W|", f"{amount:,}", amount, "operations")
    amount = 2 * tokens * sum(matrices)
    worked = rf"2 \cdot {tokens} \cdot {sum(matrices):,}"
    return Count("Projections", r"2\, T \sum_W |W|", worked, amount, "operations")


def _compared(trace: Trace) -> Count:
    batch, heads, queries, keys = trace.weights.shape
    d_k, d_v = trace.dimensions["head_dim"], trace.dimensions["v_head_dim"]
    return Count(
        "Comparing and mixing",
        r"2\, H\, T_q T_k\, (d_k + d_v)",
        rf"2 \cdot {heads} \cdot {queries} \cdot {keys} \cdot ({d_k} + {d_v})",
        2 * batch * heads * queries * keys * (d_k + d_v),
        "operations",
    )


def _written(trace: Trace) -> tuple[Count, ...]:
    """Maps that the readable form writes down, and what decoding would keep."""
    _, heads, queries, keys = trace.weights.shape
    maps = [step.tensor.nbytes for step in trace.steps if step.axes[-2:] == ("query", "key")]
    size, kept = trace.weights.element_size(), _kept(trace)
    written = Count(
        f"Maps written down ({len(maps)} of them)",
        r"n\, H\, T_q T_k \cdot \text{bytes}",
        rf"{len(maps)} \cdot {heads} \cdot {queries} \cdot {keys} \cdot {size}",
        sum(maps),
        "bytes",
    )
    if not kept:
        return (written,)
    total = sum(step.tensor.nbytes for step in kept)
    each = total // keys if total % keys == 0 else 0  # not where the length was pressed together
    formula = r"T_k \cdot \text{bytes a token}" if each else ""
    worked = rf"{keys} \cdot {each:,}" if each else ""
    return written, Count("Keys and values kept", formula, worked, total, "bytes")


def _kept(trace: Trace) -> list[Step]:
    """What later tokens need of these: keys as they are compared, values as they are mixed."""
    if trace.variant in NARROWER:
        return [trace[word] for word in NARROWER[trace.variant]]
    sources = [
        word
        for step in trace.steps
        if step.role == "scores" or step.origin.operation == "mix"
        for word in step.origin.sources
        if word in trace.names
    ]
    steps = [trace[word] for word in dict.fromkeys(sources)]
    alone = not trace.is_cross  # then the inputs are the sequence that answers
    return [step for step in steps if "query" not in step.axes or (alone and step.role == "input")]


def _recurrent(trace: Trace) -> tuple[Count, ...]:
    state = trace["state"].tensor
    batch, heads, d_k, columns = state.shape
    length, size = len(trace.query_tokens), state.element_size()
    # Decay: one product a cell; write and read: two operations each; a delta rule looks up too.
    each = 7 if "erased" in trace.names else 5
    made = trace.weights
    return (
        Count(
            "Fading, writing and reading the state",
            rf"{each}\, H\, T\, d_k\, d_v",
            rf"{each} \cdot {heads} \cdot {length} \cdot {d_k} \cdot {columns}",
            each * batch * heads * length * d_k * columns,
            "operations",
        ),
        Count(
            "State kept, whatever the length",
            r"H\, d_k\, d_v \cdot \text{bytes}",
            rf"{heads} \cdot {d_k} \cdot {columns} \cdot {size}",
            state.nbytes,
            "bytes",
        ),
        Count(
            "The effective map, made only to be drawn",
            r"H\, T^2 \cdot \text{bytes}",
            rf"{heads} \cdot {length}^2 \cdot {size}",
            made.nbytes,
            "bytes",
        ),
    )

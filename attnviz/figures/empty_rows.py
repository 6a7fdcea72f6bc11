"""What each convention makes of a query that may look at no key, as a table of real runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd

import attnviz as av
from attnviz.errors import EmptyRowError

VERDICTS = {
    "nan": "NaN, which spreads to all that reads it",
    "zeros": "zeros",
    "uniform": "uniform: the hidden keys count like any other",
    "weighted": "weights",
}
SHOWN = 4
"""Numbers of the output row that the table has room for."""


def empty_query(trace: av.Trace, query: int | None = None) -> int:
    """The first query that the run left without a key; else the one given; else the first."""
    from attnviz import masks

    if trace.allowed is not None:
        empty = masks.empty_rows(trace.allowed)[0, 0].nonzero()
        if len(empty):
            return int(empty[0, 0])
    return query if query is not None and query in range(len(trace.query_tokens)) else 0


@dataclass(frozen=True)
class EmptyRowRuns:
    """A row a convention, and the sentence with which attnviz refuses an empty row.

    Columns: convention, result (in words), weight of key 0, output (its first numbers).
    """

    table: pd.DataFrame
    error: str


def run_empty_row(inputs: av.Inputs, trace: av.Trace, query: int) -> EmptyRowRuns:
    """The trace's one head again, every key hidden from one query: each convention run."""
    from attnviz import masks
    from attnviz.masks.empty import empty_row_outcomes, verdict_of

    n_queries, n_keys = len(trace.query_tokens), len(trace.key_tokens)
    allowed = masks.bidirectional().allowed(n_queries, n_keys).clone()
    if trace.allowed is not None:
        allowed &= trace.allowed[:1, :1].cpu()
    allowed[0, 0, query] = False

    q, k, v = (_entering(trace, word) for word in ("query", "key", "value"))
    rows = [
        _row(outcome.convention, VERDICTS[outcome.verdict], outcome.weights, outcome.output)
        for outcome in empty_row_outcomes(q, k, v, allowed[0, 0], query)
    ]
    again = {
        "mask": allowed,
        "seed": trace.options["seed"],
        "head_dim": trace.dimensions["head_dim"],
        "device": "cpu",
    }
    error = ""
    try:
        av.run(trace.variant, inputs, **again)
    except EmptyRowError as refused:
        error = str(refused)
        rows.append(_row("attnviz, unless asked otherwise", "an error that names the row"))
    ours = av.run(trace.variant, inputs, empty_rows="zero", **again)
    weights, output = ours.weights[0, 0, query], ours.output[0, query]
    rows.append(_row('attnviz, empty_rows="zero"', VERDICTS[verdict_of(weights)], weights, output))
    return EmptyRowRuns(pd.DataFrame(rows), error)


def _entering(trace: av.Trace, word: str) -> Any:
    """What enters the scores of example 0: turned by position where the run did that."""
    turned = f"{word}_rotated"
    return trace[turned if turned in trace.names else word].tensor[0].cpu()


def _row(convention: str, result: str, weights: Any = None, output: Any = None) -> dict:
    none = "—"
    return {
        "convention": convention,
        "result": result,
        "weight of key 0": none if weights is None else f"{weights[0].item():.3g}",
        "output": none
        if output is None
        else ", ".join(f"{number:.2f}" for number in output[:SHOWN].tolist()) + ", …",
    }

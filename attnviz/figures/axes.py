"""The sides of a panel that come from a trace: its queries, its keys, channels."""

from __future__ import annotations

import attnviz as av
from attnviz.figures.figure import Axis


def query_axis(trace: av.Trace) -> Axis:
    """Rows of a map: the tokens that ask."""
    return Axis(
        "query", "query: attends from", trace.query_tokens, details=trace.query_details or None
    )


def key_axis(trace: av.Trace) -> Axis:
    """Columns of a map: the tokens that are asked."""
    return Axis("key", "key: attends to", trace.key_tokens, details=trace.key_details or None)


def numbered_axis(name: str, title: str, count: int) -> Axis:
    """Heads or channels: things that have a number and no name."""
    return Axis(name, title, tuple(str(index) for index in range(count)))

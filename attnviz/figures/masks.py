"""Two runs that differ by a mask -> what the mask hides and what that changes."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from jaxtyping import Bool

import attnviz as av
from attnviz.figures import palette
from attnviz.figures.axes import key_axis, numbered_axis, query_axis
from attnviz.figures.figure import Figure, Panel
from attnviz.figures.vega import Spec, name, number, tip


def mask_figure(unmasked: av.Trace, masked: av.Trace, code: str = "") -> Figure:
    """Allowed pairs, the weights with the mask and without it, and the change of the output.

    Both traces are runs of one head on the same input; example 0 and head 0 are drawn. code:
    Python that makes that input, as `x`, and the masked run, as `trace`.
    """
    rows, cols = query_axis(masked), key_axis(masked)
    allowed = allowed_pairs(masked)
    blocked = None if allowed.all() else ~allowed
    change = _numbers(masked.output - unmasked.output)
    n_queries, n_keys = allowed.shape
    name = masked.options["mask"]
    return Figure(
        title="A mask, and what it changes",
        alt=(
            f"Four matrices for the mask {name} on {n_queries} queries and {n_keys} keys: which "
            f"pairs it allows, the weights with it, the weights without it, and by how much each "
            f"number of the output changes."
        ),
        panels=(
            Panel(
                "allowed",
                "Allowed pairs",
                allowed.astype(np.float32),
                rows,
                cols,
                scale="flag",
                blocked=blocked,
                subtitle=f"mask: {name}",
                accent="mask",
                limit=1.0,
                value_name="allowed",
            ),
            Panel(
                "weights",
                "Weights with the mask",
                _numbers(masked.weights[:, 0]),
                rows,
                cols,
                blocked=blocked,
                subtitle="the weight of hidden keys moves to the others",
                limit=1.0,
            ),
            Panel(
                "open",
                "Weights without the mask",
                _numbers(unmasked.weights[:, 0]),
                rows,
                cols,
                subtitle="every row sums to 1",
                limit=1.0,
            ),
            Panel(
                "change",
                "Change of the output",
                change,
                rows,
                numbered_axis("channel", "channel of the output", change.shape[1]),
                scale="signed",
                subtitle="output with the mask minus output without",
                accent="output",
                value_name="change",
            ),
        ),
        settings=f"mask: {name}, seed {masked.options['seed']}",
        file_stem="attnviz_mask",
        snippet=code and f"{code}{_prints(masked)}",
    )


def allowed_pairs(trace: av.Trace) -> Bool[np.ndarray, "queries keys"]:
    """Which pairs of example 0, head 0 the run allowed."""
    shape = (len(trace.query_tokens), len(trace.key_tokens))
    if trace.allowed is None:
        return np.ones(shape, bool)
    return np.broadcast_to(trace.allowed[0, 0].cpu().numpy(), shape)


def mask_summary(unmasked: av.Trace, masked: av.Trace) -> str:
    """One sentence: how many pairs are hidden, and how much weight that moved."""
    from attnviz.metrics.similarity import total_variation

    allowed = allowed_pairs(masked)
    moved = total_variation(unmasked.weights[0, 0], masked.weights[0, 0]).item()
    hidden = allowed.size - int(allowed.sum())
    sentence = f"{hidden} of {allowed.size} pairs are hidden"
    if not np.isnan(moved):
        sentence += f"; of an average query's weight, {moved:.0%} moved to other keys"
    empty = int((~allowed.any(1)).sum())
    if empty:
        who = "1 query sees no key: its" if empty == 1 else f"{empty} queries see no key: their"
        sentence += f". {who} weights and output are drawn as zeros"
    return f"{sentence}."


def keys_seen_chart(masked: av.Trace) -> Spec:
    """For each query, how many keys it may look at."""
    allowed = allowed_pairs(masked)
    n_keys = allowed.shape[1]
    names = [f"{place} {token}" for place, token in enumerate(masked.query_tokens)]
    return {
        "title": "Keys that each query sees",
        "height": 260,
        "data": {"name": "queries"},
        "mark": {"type": "bar", "color": palette.ACCENTS["key"][0]},
        "encoding": {
            "x": name("query", "query (position, token)", sort=None, axis={"labelAngle": -40}),
            "y": number(
                "keys",
                f"keys (of {n_keys})",
                axis={"tickMinStep": 1},
                scale={"domain": [0, n_keys]},
            ),
            "tooltip": [tip("query", "query"), tip("keys", "keys", "d")],
        },
        "datasets": {
            "queries": [
                {"query": query, "keys": seen}
                for query, seen in zip(names, allowed.sum(1).tolist(), strict=True)
            ]
        },
    }


def _prints(masked: av.Trace) -> str:
    """Python that prints the figure's numbers, given `x` and `trace`."""
    return (
        f"print(trace.weights[0, 0])\n"
        f'unmasked = av.run("scaled_dot_product", x, seed={masked.options["seed"]})\n'
        f"print(unmasked.weights[0, 0])\n"
        f"print(trace.output - unmasked.output)\n"
    )


def _numbers(tensor: Any) -> np.ndarray:
    """Example 0 of a tensor (B, rows, cols) as float32."""
    return tensor[0].float().cpu().numpy()


def mask_code(inputs_code: str, mask: av.masks.Mask, seed: int) -> str:
    """Python that computes the weights drawn here, given the expression that makes the inputs."""
    words = sorted(set(re.findall(r"[a-z_]+(?=\()", repr(mask))))
    return (
        f"import attnviz as av\n"
        f"from attnviz.masks import {', '.join(words)}\n\n"
        f"x = {inputs_code}\n"
        f"mask = {mask!r}\n"
        f'trace = av.run("scaled_dot_product", x, mask=mask, seed={seed}, empty_rows="zero")\n'
        f"trace.weights  # (batch, heads, queries, keys)\n"
        f"trace.output\n"
    )

"""A recurrent run -> its state before and after one token, and what that token did to it."""

from __future__ import annotations

import attnviz as av
from attnviz.figures.axes import key_axis, numbered_axis
from attnviz.figures.figure import Axis, Figure, Panel
from attnviz.figures.step_words import title

STRIPS = ("decay", "beta", "step_size", "state_norm")
"""Steps with one number a head and token, drawn over time below the states."""


def state_figure(trace: av.Trace, token: int, head: int = 0, batch: int = 0) -> Figure:
    """S before the token, what is kept, erased and written, and S after; then the gates in time.

    The five states share one colour scale, so that their sum can be seen.
    """
    from attnviz.variants.changes import change_at

    change = change_at(trace, token)
    parts = {
        "before": ("State before", f"S after token {token - 1}", change.before),
        "kept": ("Kept", "α ⊙ S: what the decay leaves", change.kept),
        "erased": ("Erased", "k·eᵀ: what S answered to this key", change.erased),
        "written": ("Written", "β k·vᵀ: the new pair", change.written),
        "after": ("State after", "kept − erased + written", change.after),
    }
    shown = {word: part for word, part in parts.items() if part[2] is not None}
    numbers = {
        word: tensor[batch, head].detach().float().cpu().numpy()
        for word, (_, _, tensor) in shown.items()
    }
    limit = max(float(abs(values).max()) for values in numbers.values()) or None
    d_k, columns = numbers["after"].shape
    rows, cols = numbered_axis("channel", "key channel", d_k), _columns(trace, columns)
    panels = [
        Panel(word, name, numbers[word], rows, cols, "signed", subtitle=how, limit=limit)
        for word, (name, how, _) in shown.items()
    ]
    who = trace.key_tokens[token]
    return Figure(
        title=f"State of head {head} at token {token}",
        alt=(
            f"The state of head {head}, {d_k} key channels by {columns} columns, before and after "
            f"token {token} ({who}), and what the token changed."
        ),
        panels=(*panels, *_strips(trace, batch)),
        settings=f"{trace.variant}, head {head}, token {token}",
        file_stem=f"attnviz_{trace.variant}_state",
    )


def _columns(trace: av.Trace, count: int) -> Axis:
    """The value channels, and the normaliser's column after them."""
    d_v = trace.dimensions["v_head_dim"]
    labels = (*map(str, range(d_v)), *["1"] * (count - d_v))
    return Axis("value_channel", "value channel" + (", normaliser" if count > d_v else ""), labels)


def _strips(trace: av.Trace, batch: int) -> list[Panel]:
    panels = []
    for word in STRIPS:
        if word not in trace.names or len(trace[word].axes) != 3:
            continue
        values = trace[word].tensor[batch].detach().float().cpu().numpy()  # (H, T)
        panels.append(
            Panel(
                word,
                title(word),
                values,
                numbered_axis("head", "head", len(values)),
                key_axis(trace),
                "magnitude",
                subtitle="a row a head, a column a token",
            )
        )
    return panels

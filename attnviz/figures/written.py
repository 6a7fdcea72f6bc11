"""A recorded generation -> one head's map that grows by a row and a column a token."""

from __future__ import annotations

import numpy as np

from attnviz.figures.figure import Axis, Figure, Panel
from attnviz.models.written import Written


def written_figure(written: Written) -> Figure:
    """The map of the recorded head; the player shows it as it was when each token was written."""
    n_tokens = len(written.tokens)
    return Figure(
        title=f"{written.model_name} writes",
        alt=(
            f"Attention of one head of {written.model_name} while it writes: "
            f"{written.n_prompt} tokens of a prompt, and a row more for each of "
            f"{n_tokens - written.n_prompt} written tokens."
        ),
        panels=(
            Panel(
                id="weights",
                title=f"Layer {written.layer}, head {written.head}",
                values=written.weights,
                rows=_axis(written, "query", "query: attends from"),
                cols=_axis(written, "key", "key: attends to"),
                scale="weight",
                blocked=np.triu(np.ones((n_tokens, n_tokens), bool), 1),
                subtitle=f"softmax weights, {n_tokens} × {n_tokens}",
                grows_from=written.n_prompt,
            ),
        ),
        settings=f"{written.model_name}, recorded greedy generation, {n_tokens} tokens",
        file_stem=f"{written.model_name}_generation",
    )


def _axis(written: Written, name: str, title: str) -> Axis:
    return Axis(name, title, written.tokens, written.token_details)

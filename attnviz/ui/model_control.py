"""Which model: a bundled one, or any other that this deployment lets a visitor load."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from attnviz.models import catalog
from attnviz.models.choice import Kind, KindJob, ModelChoice
from attnviz.ui import computing, controls, work
from attnviz.ui.folded import Folded

OTHER, SAME = "other", "same"
FORMATS = {
    "auto": "float32 on a CPU, else as stored",
    "float32": "float32",
    "bfloat16": "bfloat16",
    "float16": "float16",
}


def chosen(
    kinds: Sequence[Kind] = (), *, side: str = "", same: ModelChoice | None = None
) -> ModelChoice:
    """Draw the control and return the choice.

    kinds: of the bundled models on offer; all unless given. side: which of two models this is,
    "A" or "B"; same: the model of the other side, which is then offered first.
    """
    end, of = (f"_{side.lower()}", f" of {side}") if side else ("", "")
    titles = {SAME: "The same model"} if same is not None else {}
    titles |= {one.name: one.title for one in catalog.bundled() if not kinds or one.kind in kinds}
    titles[OTHER] = "Another model: Hub id or folder"
    label = f"Model {side}".strip()
    name = controls.pick(label, list(titles), key=f"model{end}", show=titles.__getitem__)
    if same is not None and name == SAME:
        return same
    device = computing.chosen().device or "auto"
    if name != OTHER:
        return ModelChoice(name, device=device)
    name = controls.line(
        f"Hub id or local folder{of}",
        key=f"id{end}",
        placeholder="organisation/model",
        help="Or a .gguf file. Other weights as safetensors only; code that comes with a model is "
        "never run.",
    )
    with Folded(f"Number format{of}", key=f"format{end}"):
        dtype = controls.pick(
            "Number format", list(FORMATS), key=f"dtype{end}", show=FORMATS.__getitem__
        )
    return ModelChoice(name.strip(), dtype, device)


def kind_of(model: ModelChoice, kinds: tuple[Kind, ...]) -> Kind:
    """What this model does with its input, which is known before its weights are loaded.

    Raises AttnvizError for one that cannot be loaded, or is of none of these kinds.
    """
    entry = catalog.find(model.name)
    if entry is not None and entry.kind in kinds:
        return entry.kind
    return work.result_of(KindJob(model, kinds), st.empty())

"""One pass of a model over one example, and what of its result two runs are compared by."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from attnviz.models import memory
from attnviz.models.loaded import LoadedModel
from attnviz.models.prepared import Prepared

RESULTS = ("logits", "last_hidden_state", "image_embeds", "pred_boxes")


@dataclass(frozen=True)
class Pass:
    """What a pass gave."""

    outputs: Any  # transformers' ModelOutput
    compared: Tensor  # float32 on the CPU
    what: str  # "logits" or "hidden states"
    last: Tensor | None  # logits of the last position, of a model that predicts the next token


def forward(model: LoadedModel, prepared: Prepared, *, attentions: bool = False) -> Pass:
    """Run the model. Hold its lock, and a context that sets eval and no-grad.

    Compared are the logits of at most 64 positions, evenly spaced: all positions' logits of
    8,192 tokens would take 1.6 GiB. Of a model without logits, all hidden states.
    """
    accepted = inspect.signature(model.model.forward).parameters
    anything = any(p.kind is p.VAR_KEYWORD for p in accepted.values())
    inputs: dict[str, Any] = {k: v for k, v in prepared.inputs.items() if k in accepted}
    extra: dict[str, Any] = {
        "use_cache": False,
        "output_attentions": attentions,
        "return_dict": True,
    }
    inputs |= {k: v for k, v in extra.items() if anything or k in accepted}
    if model.kind != "decoder":
        outputs = model.run(inputs)
        logits = getattr(outputs, "logits", None)
        if logits is None:
            return Pass(outputs, _result(outputs)[0].float().cpu(), "hidden states", None)
        return Pass(outputs, logits[0].float().cpu(), "logits", None)
    length = prepared.length
    step = -(-length // memory.LOGIT_ROWS)
    wanted = torch.arange((length - 1) % step, length, step, device=model.device)
    kept = "logits_to_keep" in accepted
    if kept:
        inputs["logits_to_keep"] = wanted
    outputs = model.run(inputs)
    logits = getattr(outputs, "logits", None)
    if logits is None:
        return Pass(outputs, _result(outputs)[0].float().cpu(), "hidden states", None)
    if not kept or logits.shape[1] != len(wanted):
        logits = logits[:, wanted] if logits.shape[1] == length else logits
    logits = logits[0].float().cpu()
    return Pass(outputs, logits, "logits", logits.reshape(-1, logits.shape[-1])[-1])


def _result(outputs: Any) -> Tensor:
    """The first tensor that a model without logits gives."""
    for name in RESULTS:
        if isinstance(found := getattr(outputs, name, None), Tensor):
            return found
    return next(value for value in outputs.values() if isinstance(value, Tensor))

"""One text run through a model for its predictions: every position's, not only the last one's."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from attnviz.errors import AttnvizError, ModelError
from attnviz.input_checks import place
from attnviz.models import memory
from attnviz.models.axis import Axis
from attnviz.models.loaded import LoadedModel
from attnviz.models.prepared import Prepared, one_text, pair


@dataclass(frozen=True)
class Reading:
    """What a model says of one text: logits, or of an encoder without any its hidden states."""

    axis: Axis  # the tokens whose successor each row predicts
    ids: Int[Tensor, " tokens"]
    predicts: bool  # whether rows are logits of the next token
    rows: Float[Tensor, "tokens words_or_features"] = field(repr=False)  # float32, on the CPU

    def row(self, position: int = -1) -> Float[Tensor, " words_or_features"]:
        """What is said after this token, -1 being the last; AttnvizError for one not there."""
        return self.rows[-1 if position == -1 else place("tokens", position, len(self.rows))]

    def probabilities(self, position: int = -1) -> Float[Tensor, " words"]:
        return self.row(position).softmax(-1)

    def followed(self, token_id: int | None = None) -> int:
        """That next token, or the likeliest one; AttnvizError for one that is not there."""
        if token_id is None:
            return int(self.rows[-1].argmax())
        return place("tokens", token_id, self.rows.shape[-1])

    @property
    def losses(self) -> Float[Tensor, " predicted"]:
        """-ln p of each token that has one before it, in nats."""
        return torch.nn.functional.cross_entropy(self.rows[:-1], self.ids[1:], reduction="none")


def relative_move(
    before: Float[Tensor, "tokens features"], after: Float[Tensor, "tokens features"]
) -> Float[Tensor, " tokens"]:
    """||after - before|| / ||before||, of each row."""
    return (after - before).norm(dim=-1) / before.norm(dim=-1)


def prepared_of(model: LoadedModel, text: str, target: str | None = None) -> Prepared:
    """The tensors of a text, or of a source and its target. Hold the model's lock."""
    if not isinstance(text, str):
        raise AttnvizError(f"One text is read at a time, a string; received {text!r}.")
    if model.kind == "encoder_decoder":
        return pair(model, text, target, None, 32)
    if model.kind == "vision":
        raise ModelError(
            f"{model.title} reads pictures; interventions need a model that reads text."
        )
    prepared = one_text(model, text, 0, None)
    words = int(getattr(model.shape, "vocab_size", 0) or 0)
    memory.require(
        prepared.length * words * 4 * 3,
        f"Keeping the predictions at all {prepared.length:,} tokens of {model.title}",
        "shorten the text",
        model.device,
    )
    return prepared


def read(model: LoadedModel, prepared: Prepared) -> Reading:
    """Run once. Hold the model's lock and a context that sets eval and no-grad."""
    outputs = model.run(accepted(model, prepared.inputs))
    axis = prepared.axes.get("target") or prepared.axes["self"]
    name = "decoder_input_ids" if "decoder_input_ids" in prepared.inputs else "input_ids"
    ids = prepared.inputs[name][0].cpu()
    logits = getattr(outputs, "logits", None)
    predicts = logits is not None and model.kind in ("decoder", "encoder_decoder")
    rows = logits if logits is not None else outputs.last_hidden_state
    return Reading(axis, ids, predicts, rows[0].float().cpu())


def accepted(model: LoadedModel, inputs: dict[str, Any]) -> dict[str, Any]:
    """The inputs that this model's forward knows, and no cache."""
    known = inspect.signature(model.model.forward).parameters
    anything = any(p.kind is p.VAR_KEYWORD for p in known.values())
    wanted = dict(inputs) | {"use_cache": False, "return_dict": True}
    return {k: v for k, v in wanted.items() if k in known or (anything and k in ("use_cache",))}
